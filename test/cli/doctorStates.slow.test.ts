import { read } from '../docs/markdown';
import { late } from '../support/gateway';
import { describeWith, findProgram } from '../support/programs';
import { CONNECTING } from './doctorStates/connecting';
import { EVENTS } from './doctorStates/events';
import { KEYS, WEBHOOKS } from './doctorStates/keys';
import { alwaysNamed, clear, openScene } from '../support/fixtures/doctorStates';
import { SHARDS } from './doctorStates/shards';
import { STORED } from './doctorStates/stored';

/* Sets up each state on the page about doctor; doctor must report what the page says, and nothing else. */

/** What doctor says about a state: `failed database: …`, on one line, and the fix. */
interface Said {
  readonly line: string;
  readonly fix: string | undefined;
}

interface Row {
  readonly state: string;
  readonly said: readonly Said[];
}

const PAGE = 'docs/guides/doctor.md';
const STATES = { ...CONNECTING, ...KEYS, ...EVENTS, ...STORED, ...SHARDS, ...WEBHOOKS };
const ROWS = rows(read(PAGE));
/** Not every server reports its limit, and the one here may have any. */
const ANY = /^\w+ transaction limit: /;
/** States that need a program to set up. */
const needsOpenssl = ({ state }: Row): boolean => state.includes('certificate');
/** In milliseconds; a state takes several commands, and one left half-way would show up in the next. */
const PATIENCE = 240_000;

const scene = late(openScene);
afterAll(() => scene.close());
beforeEach(() => clear(scene.main));

test(`${PAGE} has a row for each state, and the state of each row is tested`, () => {
  expect(ROWS.map(({ state }) => state).sort()).toEqual(Object.keys(STATES).sort());
  for (const { said } of ROWS) expect(said.length).toBeGreaterThan(0);
});

async function compare({ state, said }: Row): Promise<void> {
  const { cli, args = [], names = [], isAlone, end } = await STATES[state]!(scene);
  try {
    const { code, stdout, stderr } = await cli[isAlone ? 'spawned' : 'run']('doctor', ...args);
    expect(stdout + stderr).not.toContain('hunter2');
    const lines = printed(stdout, [...names, ...alwaysNamed(scene, cli)]);
    const expected = said.map(({ line }) => line);
    const isMeant = ({ line }: { line: string }): boolean =>
      expected.includes(line) || (!line.startsWith('ok ') && !ANY.test(line));
    expect(lines.filter(isMeant)).toEqual(said);
    expect(code).toBe(expected.some((line) => line.startsWith('failed ')) ? 1 : 0);
  } finally {
    await end?.();
  }
}

test.each(ROWS.filter((row) => !needsOpenssl(row)))('$state', compare, PATIENCE);

describeWith(findProgram('openssl'), 'apt-get install openssl')('with openssl', () => {
  test.each(ROWS.filter(needsOpenssl))('$state', compare, PATIENCE);
});

/** The table rows that start with a state. Cells hold one code span per line of doctor, and — if there is no fix. */
function rows(page: string): Row[] {
  let isStates = false;
  return page.split('\n').flatMap((text) => {
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
function printed(stdout: string, names: readonly (readonly [string | RegExp, string])[]): Said[] {
  let text = stdout;
  for (const [here, there] of names) text = text.replaceAll(here, there);
  // which keys and endpoints, on lines of their own
  return text
    .replaceAll(/^ {8}(?:key|endpoint) .*\n/gm, '')
    .split(/^(?=(?:ok {4}|warn {2}|failed) {2}\S)/m)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [line = '', fix] = entry.split(/^ {8}fix: /m).map((part) => part.trim().replaceAll(/\s+/g, ' '));
      return { line, fix };
    });
}
