import type { Json } from '../support/client';
import { storedOwner } from '../../src/organisations/webhookRows';
import { driver, late } from '../support/gateway';
import { startReceiver } from '../support/receiver';
import { Webhook } from 'standardwebhooks';
import { checkOf, commandLine, makeOrganisation, NOBODY } from './commandLine';

/* Webhook endpoints on the command line. */

const cli = commandLine({
  WEBHOOK_SECRET: 'a master secret of webhooks, for tests',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
});
let org = '';
beforeAll(async () => {
  org = (await makeOrganisation(cli)).id;
});
const receiver = late(startReceiver);
const control = driver();
afterAll(() => receiver.stop());

const create = (...more: string[]): Promise<Json> =>
  cli.json('webhook', 'create', '--org', org, '--url', receiver.url, ...more);

test('create and rotate show the secret, list does not, and delete is permanent', async () => {
  const made = await create('--types', 'quote.created,order.created');
  expect(made).toEqual({
    id: expect.any(String) as unknown,
    url: receiver.url,
    types: ['quote.created', 'order.created'],
    customer_ids: null,
    secret: expect.stringMatching(/^whsec_[\w+/]{32}$/) as unknown,
  });
  const rotated = await cli.json<Json>('webhook', 'rotate', made.id as string);
  expect(Object.keys(rotated as object)).toEqual(['id', 'url', 'types', 'customer_ids', 'secret']);
  expect(rotated.secret).not.toBe(made.secret);
  const again = await cli.run('webhook', 'rotate', made.id as string);
  expect(again.code).toBe(0);
  expect(again.stdout).toMatch(/whsec_/);
  expect(again.stderr).toMatch(/Events are also signed with the previous secret until \d{4}-\S+Z\./);
  expect(again.stderr).toMatch(
    /the secret before the previous one would have been used until \d{4}-\S+Z, and no longer is/,
  );
  for (const args of [['--json'], []]) {
    const { code, stdout } = await cli.run('webhook', 'list', '--org', org, ...args);
    expect(code).toBe(0);
    expect(stdout).toContain(made.id);
    expect(stdout).not.toContain('whsec_');
  }
  const [listed] = await cli.json<Json[]>('webhook', 'list', '--org', org);
  expect(listed).toMatchObject({
    id: made.id,
    state: 'enabled',
    waiting: 0,
    created_by: expect.stringMatching(/^cli:/),
  });
  const enabled = await cli.json<Json>('webhook', 'enable', made.id as string, '--from', '2d');
  expect(enabled).toMatchObject({ id: made.id, state: 'enabled' });
  expect(await cli.json('webhook', 'delete', made.id as string)).toMatchObject({ id: made.id, deleted: true });
  expect(await cli.json('webhook', 'list', '--org', org)).toEqual([]);
  const actions = await cli.json<Json[]>('audit', '--org', org);
  expect(actions.map(({ action }) => action).filter((action: string) => action.startsWith('webhook.'))).toEqual([
    'webhook.deleted',
    'webhook.enabled',
    'webhook.rotated',
    'webhook.rotated',
    'webhook.created',
  ]);
});

test("test posts a signed event from this machine, and fails with the endpoint's response", async () => {
  const { id, secret } = await create();
  expect(await cli.json('webhook', 'test', id as string)).toMatchObject({ id, ok: true, status: 204, error: null });
  const { body, headers, event } = receiver.arrived.at(-1)!;
  expect(new Webhook(secret as string).verify(body, headers)).toMatchObject({ type: 'webhook.test' });
  expect(event.id).toBe(headers['webhook-id']);
  receiver.answer = (_arrival, response) => void response.writeHead(500).end('out of paper');
  const said = await cli.failed(1, 'webhook', 'test', id as string);
  expect(said).toContain('the test event was not accepted: HTTP 500\nout of paper');
  receiver.answer = () => 204;
});

test('a second endpoint with the same URL and types prints a warning, one with other types does not', async () => {
  const url = `${receiver.url}/twice`;
  const at = (...more: string[]) => cli.run('webhook', 'create', '--org', org, '--url', url, ...more);
  const { id } = await cli.json<Json>('webhook', 'create', '--org', org, '--url', url, '--types', 'order.created');
  expect((await at('--types', 'order.deleted')).stderr).not.toContain('already');
  const { code, stderr } = await at();
  expect(code).toBe(0);
  expect(stderr).toContain(`${id as string} already posts to this URL, so it gets events twice`);
});

test('a disabled endpoint receives only tests, which say so', async () => {
  const { id } = (await create()) as { id: string };
  expect(await cli.json('webhook', 'disable', id)).toMatchObject({ id, state: 'disabled' });
  const { code, stdout, stderr } = await cli.run('webhook', 'test', id);
  expect([code, stdout]).toEqual([0, expect.stringContaining('answered 204')]);
  expect(stderr).toContain(`The endpoint is disabled (by_hand), so it gets no other events: scopegate webhook enable`);
  const late = await cli.failed(2, 'webhook', 'enable', id, '--from', '2099-01-01T00:00:00Z');
  expect(late).toContain('--from: is in the future');
  expect(await cli.json('webhook', 'enable', id, '--from', 'now')).toMatchObject({ id, state: 'enabled' });
});

test.each([
  [
    ['create', '--org', 'ORG', '--url', 'http://10.0.0.1/'],
    2,
    '--url: has the address 10.0.0.1, which is not public, nor in WEBHOOK_ALLOWED_RANGES',
  ],
  // a name without an allowed address
  [['create', '--org', 'ORG', '--url', 'http://hooks.invalid/'], 2, '--url: must begin with https://'],
  [['create', '--org', 'ORG', '--url', 'https://example.com/', '--types', 'order.sung'], 2, '--types: must be one of '],
  [['create', '--org', NOBODY, '--url', 'https://example.com/'], 1, `organisation ${NOBODY} not found`],
  [
    ['create', '--org', 'ORG', '--url', 'https://example.com/', '--customer-ids', NOBODY],
    2,
    `--customer-ids: ${NOBODY} is not a customer of the organisation`,
  ],
  [['rotate', NOBODY], 1, `webhook endpoint ${NOBODY} not found`],
  [['enable', 'nonsense'], 2, 'Expected a UUID'],
])('webhook %j exits with %d: %s', async (args, exit, text) => {
  expect(await cli.failed(exit, 'webhook', ...args.map((arg) => (arg === 'ORG' ? org : arg)))).toContain(text);
});

test('while the former WEBHOOK_SECRET is needed doctor names the endpoints, and warns if it was removed too soon', async () => {
  const [former, next] = ['the former master secret of webhooks', 'the next master secret of webhooks'];
  const first = commandLine({ WEBHOOK_SECRET: former });
  const both = commandLine({ ...first.environment, WEBHOOK_SECRET: next, WEBHOOK_SECRET_PREVIOUS: former });
  const alone = commandLine({ ...first.environment, WEBHOOK_SECRET: next });
  const { id: of } = await makeOrganisation(first);
  const { id } = await first.json<{ id: string }>('webhook', 'create', '--org', of, '--url', 'https://example.com/');
  // doctor names the organisation as ever of an endpoint for some customers, whose row has another form of it
  const some = [NOBODY];
  const ofSome = { $set: { organisation_id: storedOwner(of, some), customer_ids: some } };
  await control
    .db(first.controlDatabase)
    .collection<{ _id: string }>('webhook_endpoints')
    .updateOne({ _id: id }, ofSome);
  const objects = { count: 1, first: [{ kind: 'endpoint', id, organisation_id: of }] };
  const needed = { ok: true, detail: expect.stringContaining('1 endpoint needs WEBHOOK_SECRET_PREVIOUS') as unknown };
  expect(await checkOf(both, 'webhooks')).toEqual({ name: 'webhooks', ...needed, objects });
  expect((await both.run('doctor')).stdout).toContain(`so keep it\n        endpoint ${id} of organisation ${of}\n`);
  await both.json('webhook', 'rotate', id);
  const until = expect.stringMatching(
    /posts to 1 endpoint are also signed by WEBHOOK_SECRET_PREVIOUS until \d{4}-\S+Z, so keep it$/,
  ) as unknown;
  expect(await checkOf(both, 'webhooks')).toEqual({ name: 'webhooks', ok: true, detail: until, objects });
  expect(await checkOf(alone, 'webhooks')).toEqual({
    name: 'webhooks',
    ok: true,
    objects,
    detail: expect.stringMatching(/1 endpoint was rotated, and posts are no longer also signed .* until \d{4}-\S+Z$/),
    fix: expect.stringContaining('set WEBHOOK_SECRET_PREVIOUS to the former WEBHOOK_SECRET on every gateway'),
  });
});

test('without WEBHOOK_SECRET create says what to set, and without WEBHOOK_ALLOWED_RANGES what opens http', async () => {
  const bare = commandLine();
  const closed = commandLine({ ...bare.environment, WEBHOOK_SECRET: 'a master secret of webhooks, for tests' });
  const { id } = await makeOrganisation(bare);
  const said = await bare.failed(1, 'webhook', 'create', '--org', id, '--url', 'https://example.com/');
  expect(said).toContain('WEBHOOK_SECRET is not set');
  expect(await closed.failed(2, 'webhook', 'create', '--org', id, '--url', 'http://10.0.0.1/')).toContain(
    '--url: must begin with https://, or http:// for an address in WEBHOOK_ALLOWED_RANGES',
  );
});
