import { narrowBySearch } from './search.js';

/* The list of operations beside the reference; search.js narrows it. */

const list = document.getElementById('operations');
const head = list.querySelector('.search');
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
  const answers = Object.values(responses).map(({ $ref, ...own }) => ($ref ? components.responses[nameOf($ref)] : own));
  const codes = answers.flatMap(({ content = {} }) =>
    Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
  );
  const headers = answers.flatMap(({ headers = {} }) => Object.keys(headers));
  return [description, ...parameters.map(({ name }) => name), ...codes, ...headers].join(' ');
}

function nameOf(reference) {
  return reference.split('/').at(-1);
}

/** Draws the list. Returns functions that mark open operations, the current one, and those that the key may not call. */
export function drawList(operations) {
  const links = new Map(operations.map((operation) => [operation.id, linkTo(operation)]));
  const place = document.createElement('div');
  place.className = 'operations';
  list.append(place);
  narrowBySearch(operations, links, place);
  return {
    markOpen(openIds) {
      for (const [id, item] of links) item.classList.toggle('is-open', openIds.has(id));
    },
    /** Marks the operation being read, and scrolls its link into view within the list. */
    markCurrent(current) {
      list.querySelector('[aria-current]')?.removeAttribute('aria-current');
      const link = links.get(current)?.querySelector('a');
      if (!link) return;
      link.setAttribute('aria-current', 'location');
      const [{ top, bottom }, frame] = [link, list].map((one) => one.getBoundingClientRect());
      const above = frame.top + head.offsetHeight - top;
      // not scrollIntoView, which would scroll the page too
      if (above > 0) list.scrollTop -= above + GAP;
      else if (bottom > frame.bottom) list.scrollTop += bottom - frame.bottom + GAP;
    },
    markScopes(scopes) {
      for (const { id, alternatives } of operations) {
        const lacking = lackingScopes(alternatives, scopes);
        links.get(id).querySelector('small').textContent = lacking ? `your key lacks ${lacking}` : '';
      }
    },
  };
}

/** The scopes of which the key needs one but has none; undefined if it may call the operation, or its scopes are unknown. */
function lackingScopes(alternatives, scopes) {
  if (!scopes || alternatives.some((needed) => needed.every((scope) => scopes.includes(scope)))) return undefined;
  return alternatives.map((needed) => needed.join(' and ')).join(' or ');
}

function linkTo({ id, tag, method, path, summary }) {
  const item = document.createElement('li');
  item.innerHTML = '<a><b></b> <code></code><span></span><small></small></a>';
  const link = item.querySelector('a');
  link.href = `#/${tag}/${id}`;
  link.title = `${method.toUpperCase()} ${path}`;
  item.querySelector('b').textContent = method.toUpperCase();
  item.querySelector('b').className = method;
  item.querySelector('code').textContent = path;
  item.querySelector('span').textContent = summary.replace(/\.$/, '');
  return item;
}
