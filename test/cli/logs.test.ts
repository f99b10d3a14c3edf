import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';
import { commandLine, NOBODY } from './commandLine';

const cli = commandLine();

describe('logs', () => {
  let organisation: { id: string };
  let key: { id: string; key: string };

  beforeAll(async () => {
    const gateway = await startGateway({ CONTROL_DATABASE: cli.controlDatabase });
    organisation = await makeOrganisation(gateway);
    key = await makeKey(gateway, organisation as never, { scopes: ['quotes:read'] });
    await client(gateway, key.key).get('/quotes', {}, { 'X-Request-Id': 'mine' });
    await client(gateway, key.key).get('/orders');
    // what is in memory is written
    await gateway.stop();
  });

  test('shows the requests of an organisation as a table', async () => {
    const { stdout } = await cli.run('logs', '--org', organisation.id);
    const [head, first, second] = stdout.split('\n');
    expect(head).toMatch(/^WHEN +KEY +API +REQUEST +OPERATION +STATUS +CODE +MS +FROM +ID/);
    expect(first).toMatch(/rest +GET \/api\/v1\/orders +orders +403 +insufficient_scope/);
    expect(second).toMatch(/rest +GET \/api\/v1\/quotes +quotes +200 .* mine$/);
  });

  test('finds one by its id, as JSON', async () => {
    const { stdout } = await cli.run('logs', '--org', organisation.id, '--request-id', 'mine', '--json');
    expect(JSON.parse(stdout)).toEqual([
      {
        ...{ id: expect.any(String), at: expect.any(String), request_id: 'mine', key_id: key.id, face: 'rest' },
        ...{ method: 'GET', path: '/api/v1/quotes', operation: 'quotes', status: 200, code: null, reason: null },
        ...{ ms: expect.any(Number), address: '127.0.0.1', similar: 0 },
      },
    ]);
  });

  test.each([
    [['--failed'], 1],
    [['--status', '2xx'], 1],
    [['--status', '403', '--code', 'insufficient_scope'], 1],
    [['--operation', 'orders', '--face', 'graphql'], 0],
    [['--limit', '1'], 1],
  ])('filters by %j', async (options, count) => {
    const { stdout } = await cli.run('logs', '--org', organisation.id, ...options, '--json');
    expect(JSON.parse(stdout)).toHaveLength(count);
  });

  test.each([
    [['--org', NOBODY], 1, 'not found'],
    [['--org', 'x'], 2, 'UUID'],
    [['--org', NOBODY, '--status', '9xx'], 2, 'Expected a status'],
    [[], 2, '--org'],
  ])('says what is wrong with %j', async (options, code, message) => {
    const result = await cli.run('logs', ...options);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(message);
  });
});
