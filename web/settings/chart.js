/* Stacked bars of successful requests, errors and 429s: an SVG without inline styles, coloured by the style sheet. */

const SIZE = { height: 200, left: 44, right: 8, top: 10, bottom: 26 };
/** The least length of a part of a bar, in pixels. */
const LEAST = 3;
const SVG = 'http://www.w3.org/2000/svg';

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A round maximum for the axis: 1, 2 or 5 times a power of ten, and a whole number. */
export function axisTop(highest) {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= Math.max(highest, 2)) ?? 10 * power;
}

/** The numbers of an axis up to `top`, all as short as there is room for. */
function axisNumber(top) {
  return new Intl.NumberFormat('en', { notation: top < 10_000 ? 'standard' : 'compact' });
}

function label(start, isHourly) {
  return isHourly ? `${start.slice(11, 13)}:00` : start.slice(5, 10);
}

/** Lengths of a bar's parts: each is visible, at the expense of the longest, so that the bar keeps its length. */
function seen(counts, scale) {
  const lengths = counts.map((count) => (count === 0 ? 0 : Math.max(scale(count), LEAST)));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const longest = lengths.indexOf(Math.max(...lengths));
  if (lengths[longest] > 0) lengths[longest] = Math.max(lengths[longest] - sum(lengths) + scale(sum(counts)), LEAST);
  return lengths;
}

/** A chart of a period's buckets, `width` pixels wide; `description` is its text alternative. */
export function drawChart(buckets, isHourly, description, width) {
  const { height, left, right, top, bottom } = SIZE;
  const highest = axisTop(Math.max(...buckets.map(({ requests }) => requests)));
  const scale = (count) => (count / highest) * (height - top - bottom);
  const step = (width - left - right) / buckets.length;
  const chart = shape('svg', {
    class: 'chart',
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': description,
  });
  const axis = axisNumber(highest);
  for (const share of [0, 0.5, 1]) {
    const y = height - bottom - scale(highest * share);
    chart.append(shape('line', { class: 'grid', x1: left, x2: width - right, y1: y, y2: y }));
    const number = highest * share;
    if (Number.isInteger(number)) {
      chart.append(shape('text', { x: left - 6, y: y + 4, 'text-anchor': 'end' }, axis.format(number)));
    }
  }
  buckets.forEach(({ start, requests, errors, rate_limited: limited }, at) => {
    const x = left + at * step + step * 0.15;
    const counts = [Math.max(0, requests - errors - limited), errors, limited];
    const lengths = seen(counts, scale);
    let y = height - bottom;
    for (const [part, kind] of ['fine', 'errors', 'limited'].entries()) {
      if (counts[part] === 0) continue;
      y -= lengths[part];
      const bar = shape('rect', { class: kind, x, y, width: step * 0.7, height: lengths[part] });
      const count = counts[part].toLocaleString('en');
      bar.append(shape('title', {}, `${label(start, isHourly)}: ${count} ${WORDS[kind]}`));
      chart.append(bar);
    }
    if (at % (isHourly ? 6 : 5) === 0) {
      const middle = left + at * step + step / 2;
      chart.append(shape('text', { x: middle, y: height - 8, 'text-anchor': 'middle' }, label(start, isHourly)));
    }
  });
  return chart;
}

const WORDS = { fine: 'successful', errors: 'errors', limited: '429s' };
