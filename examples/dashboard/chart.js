import { make, makeSvg } from './draw.js';

/* A chart of columns with an axis, drawn as wide as there is room. */

const HEIGHT = 260;
const TOP = 22;
const BOTTOM = 40;
const RIGHT = 8;
/** The narrowest column with its gap; more columns than fit are reached by scrolling. */
const NARROWEST = 11;
/** About how wide a character of an axis is, in pixels. */
const CHARACTER = 7;

/**
 * @returns an element, and `update({ label, bars, axis })`: `bars` are `{ name, value, text, brief, below }`, where `below` are the
 * lines below the column; `axis` formats a value of the axis
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
  const band = Math.max(NARROWEST, (room - left - RIGHT) / bars.length);
  const width = Math.max(room, left + band * bars.length + RIGHT);
  const heightOf = (value) => (Math.max(0, value) / most) * (HEIGHT - TOP - BOTTOM);
  const bottom = HEIGHT - BOTTOM;
  const svg = makeSvg('svg', {
    width,
    height: HEIGHT,
    viewBox: `0 0 ${width} ${HEIGHT}`,
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
  const highest = bars.findIndex(({ value }) => value === Math.max(...bars.map((bar) => bar.value)));
  const every = Math.ceil((CHARACTER * 4) / band);
  bars.forEach((bar, index) => {
    const middle = left + (index + 0.5) * band;
    const height = heightOf(bar.value);
    const column = makeSvg(
      'g',
      { class: 'column' },
      makeSvg('title', {}, `${bar.name}: ${bar.text}`),
      makeSvg('rect', { class: 'hit', x: middle - band / 2, y: TOP, width: band, height: bottom - TOP }),
      makeSvg('rect', {
        class: 'bar',
        ...{ x: middle - band * 0.38, y: bottom - height, width: band * 0.76, height, rx: Math.min(3, band / 6) },
      }),
    );
    const half = (bar.brief.length * CHARACTER) / 2;
    if (bar.value > 0 && (half * 2 <= band || index === highest)) {
      const x = Math.min(Math.max(middle, left + half), width - RIGHT - half);
      column.append(makeSvg('text', { class: 'value', x, y: bottom - height - 6, 'text-anchor': 'middle' }, bar.brief));
    }
    const [first = '', second = ''] = bar.below;
    const lines = [index % every === 0 ? first : '', index === 0 || bar.startsYear ? second : ''];
    lines.forEach((text, line) => {
      if (text === '') return;
      const y = bottom + 16 + line * 16;
      column.append(makeSvg('text', { class: 'tick', x: middle, y, 'text-anchor': 'middle' }, text));
    });
    svg.append(column);
  });
  return svg;
}

/** Round values from 0 to at least `most`, and at least one unit. */
function ticksUpTo(most) {
  if (most <= 1) return [0, 1];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}
