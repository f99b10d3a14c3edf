/* Amounts and elements. */

/** Digits of the minor unit by ISO 4217, where they are not two. Not those of Intl, which has none for HUF or COP, since it follows usage. */
const DIGITS = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3]),
  ...'CLF UYW'.split(' ').map((code) => [code, 4]),
]);

function digitsOf(currency) {
  return DIGITS[currency] ?? 2;
}

/** Formats an amount in minor units, a number or a BigInt: 1250 is €12.50, ¥1,250 or KWD 1.250. */
export function amount(minor, currency) {
  const digits = digitsOf(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits };
  // as text, which Intl takes exactly; a quotient of large numbers would be rounded
  return new Intl.NumberFormat('en', format).format(`${minor}e-${digits}`);
}

/** A number of minor units in units of the currency, for the geometry of a chart. */
export function major(minor, currency) {
  return minor / 10 ** digitsOf(currency);
}

/** Formats units briefly: 134567 → 134.6K. */
export function brief(value) {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** Formats units of a currency for an axis: 2500 USD → $2.5K. */
export function tick(value, currency) {
  const options = { style: 'currency', currency, notation: 'compact', maximumFractionDigits: 2 };
  return new Intl.NumberFormat('en', options).format(value);
}

/** Sums one member of rows of the same currency, exactly. */
export function sumOf(rows, member) {
  return rows.reduce((sum, row) => sum + BigInt(row[member]), 0n);
}

export function make(name, attributes = {}, ...children) {
  return dress(document.createElement(name), attributes, children);
}

export function makeSvg(name, attributes = {}, ...children) {
  return dress(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function dress(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A table whose rows can be replaced: `{ cells, share }`, with a bar of that share (0 to 1) below the first cell. */
export function makeTable(headings) {
  const caption = make('caption');
  const body = make('tbody');
  const head = make('tr', {}, ...headings.map((text) => make('th', { scope: 'col' }, text)));
  return {
    element: make('table', {}, caption, make('thead', {}, head), body),
    update(text, rows) {
      caption.textContent = text;
      body.replaceChildren(...rows.map(makeRow));
    },
  };
}

function makeRow({ cells: [first, ...others], share }) {
  const header = make('th', { scope: 'row' }, first);
  if (share !== undefined) {
    const bar = make('span', { class: 'bar' });
    bar.style.width = `${Math.max(0, share * 100)}%`;
    header.append(bar);
  }
  return make('tr', {}, header, ...others.map((text) => make('td', {}, text)));
}
