import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { finished } from '../../cli/commandLine';
import { operator, SECRET, TOKENS } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import { served } from '../../support/gateway';

/* The program of the guide "Put it into your product". */

const PROGRAM = join(__dirname, '../../../examples/product/product.mjs');
const gateway = served({ ...TOKENS, CONTROL_DATABASE: 'scopegate_test_product' });

async function product(...args: string[]): Promise<Json> {
  const env = { PATH: process.env.PATH, SCOPEGATE_URL: gateway.url, OPERATOR_SECRET: SECRET };
  const { code, stdout, stderr } = await finished(spawn(process.execPath, [PROGRAM, ...args], { env }));
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test('an account signs up, twice without harm, opens its settings, changes its plan and is closed', async () => {
  const account = `account ${randomUUID()}`;
  const made = await product('signUp', account, 'Acme Ltd');
  expect(made).toMatchObject({ name: 'Acme Ltd', plan: 'starter', external_ref: account });
  expect(await product('signUp', account, 'Acme Ltd')).toEqual(made);
  expect(await product('changePlan', account, 'integrations')).toEqual({ ...made, plan: 'integrations' });
  const { url } = await product('integrations', account, '7', 'Ann Lee');
  const token = await gateway.control.sessions.useLink(new URL(url as string).searchParams.get('link')!, '127.0.0.1');
  expect(await gateway.control.sessions.find(token!)).toMatchObject({ home: made.id, user: { id: 'app:7' } });
  expect(await product('close', account)).toMatchObject({ state: 'done', organisation_id: made.id });
  expect((await operator(gateway).get(`/organisations/${String(made.id)}`)).status).toBe(404);
  expect(await product('close', account)).toBeNull();
  await expect(product('changePlan', account, 'starter')).rejects.toThrow(`${account} has no organisation`);
});
