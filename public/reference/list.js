/* The list of operations beside the reference, which a search narrows. */

const list = document.getElementById('operations');
const search = document.getElementById('search');
const status = list.querySelector('[role=status]');

/** The operations of an OpenAPI document, each with the alternatives of scopes that it needs. */
export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, tags, security }]) => ({
      ...{ path, method, summary, id: operationId, tag: tags[0] },
      alternatives: security.flatMap((one) => Object.values(one)),
    })),
  );
}

/** Draws the list, and returns how to mark what is open in the reference and what a key with some scopes may call. */
export function drawList(operations) {
  const links = new Map(operations.map((operation) => [operation.id, linkTo(operation)]));
  const groups = Map.groupBy ? Map.groupBy(operations, ({ tag }) => tag) : grouped(operations);
  const sections = [...groups].map(([tag, members]) => {
    const section = document.createElement('section');
    const title = document.createElement('h2');
    const items = document.createElement('ul');
    title.textContent = tag;
    items.append(...members.map(({ id }) => links.get(id)));
    section.append(title, items);
    return section;
  });
  const place = document.createElement('div');
  place.className = 'operations';
  place.append(...sections);
  list.append(place);
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { id, method, path, summary } of operations) {
      const text = `${method} ${path} ${id} ${summary}`.toLowerCase();
      const isFound = words.every((word) => text.includes(word));
      links.get(id).hidden = !isFound;
      if (isFound) count += 1;
    }
    for (const section of sections) section.hidden = !section.querySelector('li:not([hidden])');
    status.textContent = count === 1 ? '1 operation' : `${String(count)} operations`;
  });
  return {
    markOpen(openIds) {
      for (const [id, item] of links) item.classList.toggle('is-open', openIds.has(id));
    },
    markScopes(scopes) {
      for (const { id, alternatives } of operations) {
        const lacking = lackingScopes(alternatives, scopes);
        links.get(id).querySelector('small').textContent = lacking ? `your key lacks ${lacking}` : '';
      }
    },
  };
}

/** The scopes of which a key needs one and has none, in words; undefined if it may call the operation, or that is not known. */
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

function grouped(operations) {
  const groups = new Map();
  for (const operation of operations) groups.set(operation.tag, [...(groups.get(operation.tag) ?? []), operation]);
  return groups;
}
