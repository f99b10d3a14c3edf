import { read } from '../../docs/markdown';

/* The tables of the page about doctor, and doctor's own output in the same form. */

export const PAGE = 'docs/guides/doctor.md';

/** What doctor says about a state: `failed database: …`, on one line, and the fix. */
export interface Said {
  readonly line: string;
  readonly fix: string | undefined;
}

export interface Row {
  readonly state: string;
  readonly said: readonly Said[];
}

/** The table rows that start with a state. Cells hold one code span per line of doctor, and — if there is no fix. */
export function rows(): Row[] {
  const lines = read(PAGE).split('\n');
  let isStates = false;
  return lines.flatMap((text) => {
    if (!text.startsWith('|')) isStates = false;
    else if (text.startsWith('| state |')) isStates = true;
    else if (isStates && !text.startsWith('|---')) {
      const [state = '', printed = '', fixes = ''] = text.slice(2, -2).split(' | ');
      const remedies = [...fixes.matchAll(/`([^`]+)`|—/g)].map(([, fix]) => fix);
      const said = [...printed.matchAll(/`([^`]+)`/g)].map(([, line = ''], at) => ({ line, fix: remedies[at] }));
      return [{ state, said }];
    }
    return [];
  });
}

/** Doctor's lines, with what differs between machines replaced as on the page. */
export function printed(stdout: string, names: readonly (readonly [string | RegExp, string])[]): Said[] {
  let text = stdout;
  for (const [here, there] of names) text = text.replaceAll(here, there);
  return text
    .split(/^(?=(?:ok {4}|warn {2}|failed) {2}\S)/m)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [line = '', fix] = entry.split(/^ {8}fix: /m).map((part) => part.trim().replaceAll(/\s+/g, ' '));
      return { line, fix };
    });
}
