import { PEERS, type PeerName } from '../contestants';
import type { Row } from './table';

/* A bar chart of the table's ratios, narrow enough for a telephone, all on one scale. */

const [WIDTH, LEFT, RIGHT] = [400, 122, 40];
const [BAR, STEP, TITLE, GAP] = [10, 16, 22, 12];

/** Returns an SVG that works on light and dark backgrounds. */
export function drawChart(rows: readonly Row[]): string {
  const longest = Math.max(1, ...rows.flatMap(({ ratios }) => [...ratios.values()]));
  const lengthOf = (ratio: number): number => (ratio / longest) * (WIDTH - LEFT - RIGHT);
  const parts: string[] = [];
  let y = 24;
  for (const { title, ratios } of rows) {
    parts.push(text(0, y + 14, title, 'class="title"'));
    y += TITLE;
    for (const name of Object.keys(PEERS) as PeerName[]) {
      const ratio = ratios.get(name);
      if (ratio === undefined) continue;
      const length = lengthOf(ratio).toFixed(1);
      parts.push(text(LEFT - 6, y + 10, PEERS[name].title, 'text-anchor="end"'));
      parts.push(`<rect x="${String(LEFT)}" y="${String(y + 1)}" width="${length}" height="${String(BAR)}" rx="2"/>`);
      parts.push(text(LEFT + Number(length) + 5, y + 10, ratio.toFixed(2)));
      y += STEP;
    }
    y += GAP;
  }
  const one = (LEFT + lengthOf(1)).toFixed(1);
  const line = `<path d="M${one} 18V${String(y - GAP)}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(WIDTH)}" height="${String(y)}" viewBox="0 0 ${String(WIDTH)} ${String(y)}" role="img" aria-label="Server time per request of others, divided by Scopegate’s">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#374151}rect{fill:#9ca3af}path{stroke:#2563eb;stroke-width:1.5}.title{font-weight:600}.one{fill:#2563eb}@media(prefers-color-scheme:dark){text{fill:#d1d5db}rect{fill:#6b7280}path{stroke:#60a5fa}.one{fill:#60a5fa}}</style>',
    text(Number(one), 12, 'Scopegate = 1', 'class="one" text-anchor="middle"'),
    line,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, value: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${String(y)}" ${more}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}
