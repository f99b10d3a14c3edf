import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { commandLine, makeOrganisation, serve } from './commandLine';

/* Mistakes in rules of the user cost the calls that run them, and not the gateway. */

const TEMPLATE = join(__dirname, '..', '..', 'examples', 'schema');

const RULES = `
const check = async (text) => { throw new Error(text); };
export const Invoice = ({ number }, { fault }) => {
  if (number === 'returned') return check('returned by a rule');
  if (number === 'left') check('left behind by a rule');
  if (number === 'later') setTimeout(() => { throw new Error('thrown later'); });
  if (number === 'pointer') fault('due_on', 'must be set');
};
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scopegate-rules-'));
  await cp(TEMPLATE, folder, { recursive: true });
  await writeFile(join(folder, 'rules.mjs'), RULES);
});
afterAll(() => rm(folder, { recursive: true }));

test('a rule that returns or leaves a promise, throws later or calls fault wrongly ends no gateway, and the log names it', async () => {
  const cli = commandLine({ SCHEMA_DIR: folder });
  const { id } = await makeOrganisation(cli);
  const { stdout } = await cli.spawned('key', 'create', '--org', id, '--name', 'k', '--scopes', 'all', '--json');
  const { key } = JSON.parse(stdout) as { key: string };
  const gateway = await serve(cli);
  const create = async (number: string): Promise<number> => {
    const body = JSON.stringify({ invoices: [{ number, total_minor: 1 }] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const { status } = await fetch(`${gateway.url}/api/v1/invoices/bulk`, { method: 'POST', headers, body });
    return status;
  };
  expect(await create('returned')).toBe(500);
  expect(await create('pointer')).toBe(500);
  expect(await create('left')).toBe(200);
  expect(await create('later')).toBe(200);
  await eventually(() => gateway.stderr().includes('thrown later'));
  expect(await create('sound')).toBe(200);
  const log = gateway.stderr();
  expect(log).toContain('rules.mjs: the rule Invoice returns a promise, but rules are synchronous');
  expect(log).toMatch(/the rule Invoice calls fault\(\\"due_on\\"/);
  for (const text of ['left behind by a rule', 'thrown later'])
    expect(log).toMatch(new RegExp(`"level":50.*a rule left an error behind.*${text}.*rules\\.mjs:`));
  expect((await gateway.stop()).code).toBe(0);
});
