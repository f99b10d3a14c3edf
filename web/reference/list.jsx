import { render } from 'preact';

/* The list of operations beside the reference, and the search above it. */

const list = document.getElementById('operations');
const head = list.querySelector('.search');
const search = document.getElementById('search');
const status = list.querySelector('[role=status]');
const none = list.querySelector('.none');
/** Heading of the operations that match only in their text. */
const MENTIONED = 'Mentioned in';
/** Pixels between the link that is brought into view and the edge of the list. */
const GAP = 8;

/** The operations of an OpenAPI document, each with the alternatives of scopes that it needs, and the words that its text has. */
export function operationsOf({ paths, components }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, summary, tags, security } = operation;
      return {
        ...{ path, method, summary, id: operationId, tag: tags[0] },
        alternatives: security.flatMap((one) => Object.values(one)),
        words: wordsOf(operation, components),
      };
    }),
  );
}

/** The searchable text of an operation besides its name: description, parameters, error codes and headers. */
function wordsOf({ description = '', parameters = [], responses }, components) {
  const answers = Object.values(responses).map(({ $ref, ...own }) =>
    $ref ? components.responses[$ref.split('/').at(-1)] : own,
  );
  const codes = answers.flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
  );
  const headers = answers.flatMap(({ headers = {} }) => Object.keys(headers));
  return [description, ...parameters.map(({ name }) => name), ...codes, ...headers].join(' ');
}

/** Draws the list. Returns functions that mark open operations, the current one, and those that the key may not call. */
export function drawList(operations) {
  const place = document.createElement('div');
  place.className = 'operations';
  list.append(place);
  let openIds = new Set();
  let current;
  let scopes;

  /** Those that contain all words of the search in groups: matches in the name first, then those in the rest of the text. */
  function draw() {
    const found = matches(operations, search.value);
    const groups = Map.groupBy(found, ({ isNamed, operation }) => (isNamed ? operation.tag : MENTIONED));
    none.hidden = found.length > 0;
    none.querySelector('b').textContent = search.value.trim();
    const titles = [...new Set(operations.map(({ tag }) => tag)), MENTIONED].filter((title) => groups.has(title));
    render(
      titles.map((title) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {groups.get(title).map(({ operation }) => (
              <Item key={operation.id} {...{ ...operation, openIds, current, scopes }} />
            ))}
          </ul>
        </section>
      )),
      place,
    );
    return found.length;
  }

  function narrow() {
    const count = draw();
    status.textContent = count === 1 ? '1 operation' : `${count} operations`;
  }

  search.addEventListener('input', narrow);
  search.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter' && search.value.trim() !== '') place.querySelector('a')?.click();
  });
  none.querySelector('button').addEventListener('click', () => {
    search.value = '';
    narrow();
    search.focus();
  });
  addEventListener('keydown', focusOnSlash);
  draw();
  return {
    markOpen(ids) {
      openIds = ids;
      draw();
    },
    /** Marks the operation being read, and scrolls its link into view within the list. */
    markCurrent(id) {
      current = id;
      draw();
      const link = place.querySelector('[aria-current]');
      if (!link) return;
      const [{ top, bottom }, frame] = [link, list].map((one) => one.getBoundingClientRect());
      const above = frame.top + head.offsetHeight - top;
      // not scrollIntoView, which would scroll the page too
      if (above > 0) list.scrollTop -= above + GAP;
      else if (bottom > frame.bottom) list.scrollTop += bottom - frame.bottom + GAP;
    },
    markScopes(known) {
      scopes = known;
      draw();
    },
  };
}

function Item({ id, tag, method, path, summary, alternatives, openIds, current, scopes }) {
  const isLacking = scopes && !alternatives.some((needed) => needed.every((scope) => scopes.includes(scope)));
  const needed = alternatives.map((all) => all.join(' and ')).join(' or ');
  return (
    <li class={openIds.has(id) ? 'is-open' : ''}>
      <a
        href={`#/${tag}/${id}`}
        title={`${method.toUpperCase()} ${path}`}
        aria-current={id === current ? 'location' : undefined}
      >
        <b class={method}>{method.toUpperCase()}</b> <code>{path}</code>
        <span>{summary.replace(/\.$/, '')}</span>
        <small>{isLacking && `your key lacks ${needed}`}</small>
      </a>
    </li>
  );
}

/** The operations that contain all words, and whether their names do. */
function matches(operations, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.toLowerCase().includes(word));
  return operations.flatMap((operation) => {
    const { id, method, path, summary, words: text } = operation;
    const name = `${method} ${path} ${id} ${summary}`;
    const isNamed = has(name);
    return isNamed || has(`${name} ${text}`) ? [{ operation, isNamed }] : [];
  });
}

function focusOnSlash(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]');
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
  event.preventDefault();
  search.focus();
  search.select();
}
