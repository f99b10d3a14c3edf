import { describeWith, findProgram } from '../support/programs';
import { CONNECTING } from './doctorStates/connecting';
import { EVENTS } from './doctorStates/events';
import { KEYS } from './doctorStates/keys';
import { PAGE, printed, type Row, rows } from './doctorStates/page';
import { alwaysNamed, clear, openScene, type Scene } from './doctorStates/scene';
import { STORED } from './doctorStates/stored';
import { WEBHOOKS } from './doctorStates/webhooks';

/* Sets up each state on the page about doctor; doctor must report what the page says, and nothing else. */

const STATES = { ...CONNECTING, ...KEYS, ...EVENTS, ...STORED, ...WEBHOOKS };
const ROWS = rows();
/** Not every server reports its limit, and the one here may have any. */
const ANY = /^\w+ transaction limit: /;
/** States that need a program to set up. */
const needsOpenssl = ({ state }: Row): boolean => state.includes('certificate');
/** In milliseconds; a state takes several commands, and one left half-way would show up in the next. */
const PATIENCE = 240_000;

let scene: Scene & { close(): Promise<void> };
beforeAll(async () => {
  scene = await openScene();
}, PATIENCE);
afterAll(() => scene.close());
beforeEach(() => Promise.all([scene.main, scene.eu].map(clear)));

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
