import { makeColumns } from './chart.js';
import { amount, brief, major, make, makeTable, sumOf, tick } from './draw.js';
import { MOST } from './parts.js';

/* What the page shows of each part: a figure for each currency, so that no two are ever added or compared. */

const ORDER_STATUSES = ['placed', 'confirmed', 'in_production', 'dispatched', 'delivered', 'completed', 'cancelled'];
const QUOTE_STATUSES = ['draft', 'sent', 'accepted', 'declined', 'expired', 'withdrawn'];
/** Months without orders are shown as such; if more than these are missing in a row, one gap stands for them. */
const MOST_EMPTY = 11;

const number = (value) => value.toLocaleString('en');
const plural = (count, thing) => `${number(count)} ${thing}${count === 1 ? '' : 's'}`;

/** Functions that make the figure of a currency: an element, and `update(rows)`. */
const FIGURES = {
  months: monthsFigure,
  statuses: (currency) => statusFigure(currency, 'order', ORDER_STATUSES),
  quotes: (currency) => statusFigure(currency, 'quote', QUOTE_STATUSES),
  customers: customersFigure,
  products: productsFigure,
};

/** Shows the rows of a part. `nameOf` gives the name of a customer's id. */
export function show(part, { data, has_more: hasMore }, nameOf) {
  const section = sectionOf(part);
  const figures = section.querySelector('.figures');
  const groups = Object.groupBy(data, ({ currency }) => currency);
  for (const figure of [...figures.children]) if (!groups[figure.dataset.currency]) figure.remove();
  for (const [currency, rows] of Object.entries(groups)) {
    const known = [...figures.children].find(({ dataset }) => dataset.currency === currency);
    // kept, so that focus and open tables stay while values change
    const figure = known?.figure ?? insert(figures, currency, FIGURES[part](currency));
    figure.update(rows, nameOf);
  }
  settled(part);
  const cut = 'Only the first 1,000 groups are counted here: choose a year.';
  note(part, hasMore ? cut : data.length === 0 ? 'Nothing in this period.' : '');
}

/** Shows why a part has no values. */
export function explain(part, text) {
  clear(part);
  note(part, text, true);
}

/** Hides the figures of parts, but not their room, while those of another period are read; `text` says that, or why it takes longer. */
export function pend(parts, text) {
  for (const part of parts) {
    const section = sectionOf(part);
    section.setAttribute('aria-busy', 'true');
    section.querySelector('.pending').textContent = text;
  }
}

/** Those of the parts whose figures are still to be read. */
export function pendingOf(parts) {
  return parts.filter((part) => sectionOf(part).hasAttribute('aria-busy'));
}

function settled(part) {
  const section = sectionOf(part);
  section.removeAttribute('aria-busy');
  section.querySelector('.pending').textContent = '';
}

export function clear(part) {
  settled(part);
  sectionOf(part).querySelector('.figures').replaceChildren();
  note(part, '');
}

/** The ids of the customers that are shown, of all currencies. */
export function shownCustomers(rows) {
  const groups = Object.values(Object.groupBy(rows, ({ currency }) => currency));
  return [...new Set(groups.flatMap((group) => best(group)).map(({ customer_id: id }) => id))].filter(Boolean);
}

function sectionOf(part) {
  return document.querySelector(`[data-part="${part}"]`);
}

function note(part, text, isProblem = false) {
  const element = sectionOf(part).querySelector('.note');
  element.textContent = text;
  element.classList.toggle('problem', isProblem);
}

/** Adds the figure of a currency, in alphabetical order. */
function insert(figures, currency, figure) {
  const next = [...figures.children].find(({ dataset }) => dataset.currency > currency);
  figure.element.dataset.currency = currency;
  figure.element.figure = figure;
  figures.insertBefore(figure.element, next ?? null);
  return figure;
}

function monthsFigure(currency) {
  const caption = make('figcaption');
  const columns = makeColumns();
  const table = makeTable(['Month', 'Orders', 'Total']);
  const details = make('details', {}, make('summary', {}, `Table of months, ${currency}`), table.element);
  return {
    element: make('figure', {}, caption, columns.element, details),
    update(rows) {
      const bars = barsOf(timeline(rows), currency);
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      const text = `${currency}: ${amount(sumOf(rows, 'total_minor'), currency)} in ${plural(count, 'order')}`;
      const highest = bars.reduce((most, bar) => (bar.value > most.value ? bar : most));
      caption.textContent = text;
      columns.update({
        bars,
        axis: (value) => tick(value, currency),
        label: `${text}, ${bars[0].name} to ${bars.at(-1).name}. Highest: ${highest.name}, ${highest.text}.`,
      });
      const cells = rows.map((row) => [nameOfMonth(row.month), number(row.count), amount(row.total_minor, currency)]);
      table.update(
        text,
        cells.map((row) => ({ cells: row })),
      );
    },
  };
}

/** The columns; the first of each year, and each after a gap, names its year. */
function barsOf(months, currency) {
  return months.map(({ month, count, total_minor: minor }, index) => {
    if (month === undefined) return { name: 'No orders', value: 0 };
    const value = major(minor, currency);
    const [year] = month.split('-');
    return {
      value,
      name: nameOfMonth(month),
      text: `${amount(minor, currency)} in ${plural(count, 'order')}`,
      brief: brief(value),
      month: nameOfMonth(month, 'short').split(' ')[0],
      ...(months[index - 1]?.month?.startsWith(year) !== true && { year }),
    };
  });
}

function nameOfMonth(month, style = 'long') {
  const [year, digits] = month.split('-');
  const name = new Intl.DateTimeFormat('en', { month: style, timeZone: 'UTC' }).format(new Date(`2000-${digits}-01`));
  return `${name} ${year}`;
}

/** The months with those between them that have no orders, or one entry without a month for many. */
function timeline(rows) {
  return rows.flatMap((row, index) => {
    const from = index === 0 ? numberOf(row.month) : numberOf(rows[index - 1].month) + 1;
    const missing = numberOf(row.month) - from;
    if (missing > MOST_EMPTY) return [{}, row];
    const empty = Array.from({ length: missing }, (_, n) => ({ month: monthOf(from + n), count: 0, total_minor: 0 }));
    return [...empty, row];
  });
}

function numberOf(month) {
  const [year, digits] = month.split('-').map(Number);
  return year * 12 + digits - 1;
}

function monthOf(value) {
  return `${String(Math.floor(value / 12)).padStart(4, '0')}-${String((value % 12) + 1).padStart(2, '0')}`;
}

function statusFigure(currency, thing, order) {
  const table = makeTable(['Status', thing === 'order' ? 'Orders' : 'Quotes', 'Total']);
  return {
    element: make('figure', {}, table.element),
    update(rows) {
      const sorted = rows.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
      const most = Math.max(...rows.map(({ count }) => count));
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      table.update(
        `${currency}: ${plural(count, thing)}, ${amount(sumOf(rows, 'total_minor'), currency)}`,
        sorted.map((row) => ({
          cells: [row.status.replaceAll('_', ' '), number(row.count), amount(row.total_minor, currency)],
          share: row.count / most,
        })),
      );
    },
  };
}

function customersFigure(currency) {
  const table = makeTable(['Customer', 'Orders', 'Total']);
  return {
    element: make('figure', {}, table.element),
    update(rows, nameOf) {
      const shown = best(rows);
      const others = rows.filter((row) => !shown.includes(row));
      const most = shown[0].total_minor || 1;
      const lines = shown.map((row) => ({
        cells: [nameOf(row.customer_id), number(row.count), amount(row.total_minor, currency)],
        share: row.total_minor / most,
      }));
      if (others.length > 0) {
        const count = others.reduce((sum, row) => sum + row.count, 0);
        const total = amount(sumOf(others, 'total_minor'), currency);
        lines.push({ cells: [`${number(others.length)} others`, number(count), total] });
      }
      table.update(`${currency}: ${number(shown.length)} of ${plural(rows.length, 'customer')}`, lines);
    },
  };
}

function best(rows) {
  return rows.toSorted((a, b) => b.total_minor - a.total_minor).slice(0, MOST);
}

function productsFigure(currency) {
  const table = makeTable(['Product', 'Quantity', 'Net']);
  return {
    element: make('figure', {}, table.element),
    update(rows) {
      const most = rows[0].net_minor || 1;
      table.update(
        `${currency}: by sales net of discounts`,
        rows.map((row) => ({
          cells: [row.description, `${number(row.qty)} ${row.uom}`, amount(row.net_minor, currency)],
          share: row.net_minor / most,
        })),
      );
    },
  };
}
