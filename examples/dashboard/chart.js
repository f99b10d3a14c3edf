import { make, makeSvg } from './draw.js';

/* A chart of columns with an axis, drawn as wide as there is room. */

const HEIGHT = 260;
const TOP = 22;
const BOTTOM = 40;
const LINE = 16;
const RIGHT = 8;
/** The narrowest column with its gap; more columns than fit are reached by scrolling. */
const NARROWEST = 11;
/** The widest: one or two columns would otherwise fill the page. */
const WIDEST = 80;
/** About how wide a character of an axis is, in pixels. */
const CHARACTER = 7;

/**
 * @returns an element, and `update({ label, bars, axis })`: `bars` are `{ name, value, text, brief, month, year }`, where `year` is of
 * columns that name it, or `{ name, value: 0 }` for a gap; `axis` formats a value of the axis
 */
export function makeColumns() {
  const element = make('div', { class: 'columns' });
  let drawn;
  const draw = () => {
    if (!drawn || element.clientWidth === 0) return;
    const svg = drawing(drawn, element.clientWidth);
    const isFirst = element.childElementCount === 0;
    const from = element.scrollLeft;
    element.replaceChildren(svg);
    const scrolls = element.scrollWidth > element.clientWidth;
    // what scrolls must be reached with the keyboard
    if (scrolls) element.setAttribute('tabindex', '0');
    else element.removeAttribute('tabindex');
    element.scrollLeft = isFirst ? element.scrollWidth : from;
  };
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
  return {
    element,
    update(next) {
      drawn = next;
      draw();
    },
  };
}

function drawing({ label, bars, axis }, room) {
  const ticks = ticksUpTo(Math.max(0, ...bars.map(({ value }) => value)));
  const most = ticks.at(-1);
  const left = Math.max(...ticks.map((tick) => axis(tick).length)) * CHARACTER + 12;
  const band = Math.min(WIDEST, Math.max(NARROWEST, (room - left - RIGHT) / bars.length));
  const width = Math.max(room, left + band * bars.length + RIGHT);
  const heightOf = (value) => (Math.max(0, value) / most) * (HEIGHT - TOP - BOTTOM);
  const bottom = HEIGHT - BOTTOM;
  const lines = linesBelow(bars, band);
  const height = HEIGHT + (lines.length - 2) * LINE;
  const svg = makeSvg('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-label': label,
  });
  for (const tick of ticks) {
    const y = bottom - heightOf(tick);
    svg.append(
      makeSvg('line', { class: tick === 0 ? 'base' : 'grid', x1: left, x2: width - RIGHT, y1: y, y2: y }),
      makeSvg('text', { class: 'tick', x: left - 8, y: y + 4, 'text-anchor': 'end' }, axis(tick)),
    );
  }
  // the text in the middle of its column, or as near as the edges allow
  const textAt = (text, type, { middle, y }) => {
    const half = (text.length * CHARACTER) / 2;
    const x = Math.min(Math.max(middle, left + half), width - half);
    return makeSvg('text', { class: type, x, y, 'text-anchor': 'middle' }, text);
  };
  const highest = bars.findIndex(({ value }) => value === Math.max(...bars.map((bar) => bar.value)));
  bars.forEach((bar, index) => {
    const middle = left + (index + 0.5) * band;
    const height = heightOf(bar.value);
    const column = makeSvg(
      'g',
      { class: 'column' },
      makeSvg('title', {}, bar.month === undefined ? bar.name : `${bar.name}: ${bar.text}`),
      makeSvg('rect', { class: 'hit', x: middle - band / 2, y: TOP, width: band, height: bottom - TOP }),
      makeSvg('rect', {
        class: 'bar',
        ...{ x: middle - band * 0.38, y: bottom - height, width: band * 0.76, height, rx: Math.min(3, band / 6) },
      }),
    );
    if (bar.month === undefined) column.append(textAt('…', 'tick', { middle, y: bottom - 4 }));
    if (bar.value > 0 && (bar.brief.length * CHARACTER <= band || index === highest)) {
      column.append(textAt(bar.brief, 'value', { middle, y: bottom - height - 6 }));
    }
    lines.forEach((texts, line) => {
      if (texts.has(index)) column.append(textAt(texts.get(index), 'tick', { middle, y: bottom + (line + 1) * LINE }));
    });
    svg.append(column);
  });
  return svg;
}

/**
 * The lines of text below the columns, each by the index of its column: months, as many as there is room for, and all years, on two
 * lines if they would overlap on one.
 */
function linesBelow(bars, band) {
  const named = [...bars.keys()].filter((index) => bars[index].month !== undefined);
  const starts = named.filter((index) => bars[index].year !== undefined);
  const months = fitting([...starts, ...named], Math.ceil((CHARACTER * 4) / band));
  const years = fitting(starts, Math.ceil((CHARACTER * 4.5) / band));
  const others = starts.filter((index) => !years.includes(index));
  const textsOf = (indexes, member) => new Map(indexes.map((index) => [index, bars[index][member]]));
  const lines = [textsOf(months, 'month'), textsOf(years, 'year')];
  return others.length === 0 ? lines : [...lines, textsOf(others, 'year')];
}

/** Those of the indexes that are at least `distance` from each other; the first take precedence. */
function fitting(indexes, distance) {
  const chosen = [];
  for (const index of indexes) {
    if (chosen.every((other) => Math.abs(other - index) >= distance)) chosen.push(index);
  }
  return chosen;
}

/** Round values from 0 to at least `most`, and at least one unit. */
function ticksUpTo(most) {
  if (most <= 1) return [0, 1];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}
