import type { MeasuredScenario } from '../measure';

/* A bar chart of CPU time per request: one group per scenario, scaled to its longest bar. */

const [WIDTH, LEFT, RIGHT] = [760, 190, 110];
const [BAR, GAP, TITLE] = [16, 5, 26];
const SHOWN = ['rest-quote', 'rest-list', 'graphql-quote', 'graphql-three', 'graphql-list', 'bulk', 'etag', 'mixed'];

/** Returns an SVG that works on light and dark backgrounds. */
export function drawChart(measured: readonly MeasuredScenario[]): string {
  const parts: string[] = [];
  let y = 10;
  for (const { scenario, figures } of measured.filter((measurement) => SHOWN.includes(measurement.scenario.name))) {
    parts.push(text(LEFT, y + 14, scenario.title, 'font-weight="600"'));
    y += TITLE;
    const longest = Math.max(...figures.map(({ cpu }) => cpu?.median ?? 0), 1);
    for (const { label, cpu } of figures) {
      const value = cpu?.median ?? 0;
      const length = (value / longest) * (WIDTH - LEFT - RIGHT);
      const colour = label.startsWith('Scopegate') ? '#2563eb' : '#9ca3af';
      parts.push(text(LEFT - 8, y + 12, nameOf(label), 'text-anchor="end"'));
      parts.push(
        `<rect x="${String(LEFT)}" y="${String(y)}" width="${length.toFixed(1)}" height="${String(BAR)}" rx="2" fill="${colour}"/>`,
      );
      parts.push(text(LEFT + length + 6, y + 12, `${Math.round(value).toLocaleString('en')} µs`));
      y += BAR + GAP;
    }
    y += 14;
  }
  const size = `width="${String(WIDTH)}" height="${String(y)}" viewBox="0 0 ${String(WIDTH)} ${String(y)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="Server CPU time per request">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#374151}@media(prefers-color-scheme:dark){text{fill:#d1d5db}}</style>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, value: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${String(y)}" ${more}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

const NAMES: Readonly<Record<string, string>> = {
  node: 'node:http + driver',
  fastify: 'Fastify + driver',
  sofa: 'Sofa + mongoose',
  apollo: 'Apollo + mongoose',
};

function nameOf(label: string): string {
  return NAMES[label] ?? label;
}
