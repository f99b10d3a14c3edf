/** Formats an amount in minor units: 123456 USD → $1,234.56. */
export function amount(minor, currency) {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
}

export function clear(element) {
  element.replaceChildren();
  return element;
}

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function shareOf(value, most) {
  return `${most > 0 ? Math.max(0, (value / most) * 100) : 0}%`;
}

/** A column per bar, with its name and value for screen readers; the list scrolls with the keyboard. */
export function barChart({ caption, bars }) {
  const most = Math.max(...bars.map(({ value }) => value));
  const list = make('ol', { class: 'chart', tabindex: '0', 'aria-label': caption });
  for (const { name, value, text } of bars) {
    const bar = make('span', { class: 'bar' });
    bar.style.height = shareOf(value, most);
    list.append(
      make(
        'li',
        { title: `${name}: ${text}` },
        make('span', { class: 'column' }, bar),
        make('span', { class: 'name' }, name),
        make('span', { class: 'unseen' }, ` ${text}`),
      ),
    );
  }
  return make('figure', {}, make('figcaption', {}, caption), list);
}

/** A table with a bar below the first cell of each row. */
export function barTable({ caption, headings, rows }) {
  const most = Math.max(...rows.map(({ value }) => value));
  const head = make('tr', {}, ...headings.map((text) => make('th', { scope: 'col' }, text)));
  const body = rows.map(({ cells: [first, ...others], value }) => {
    const bar = make('span', { class: 'bar' });
    bar.style.width = shareOf(value, most);
    return make('tr', {}, make('th', { scope: 'row' }, first, bar), ...others.map((text) => make('td', {}, text)));
  });
  return make('table', {}, make('caption', {}, caption), make('thead', {}, head), make('tbody', {}, ...body));
}
