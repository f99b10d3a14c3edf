import { eventually } from '../api/http/eventually';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';
import { commandLine, NOBODY } from './commandLine';

const cli = commandLine();

const ROOT_FIELDS = ['quotes', 'products', 'customers', 'orders', 'requests', 'me'];

describe('logs', () => {
  let organisation: { id: string };
  let wide: { id: string };
  let key: { id: string; key: string };

  beforeAll(async () => {
    const gateway = await startGateway({ CONTROL_DATABASE: cli.controlDatabase });
    organisation = await makeOrganisation(gateway);
    key = await makeKey(gateway, organisation as never, { scopes: ['quotes:read'] });
    await client(gateway, key.key).get('/quotes', {}, { 'X-Request-Id': 'mine' });
    await client(gateway, key.key).get('/orders');
    wide = await makeOrganisation(gateway);
    const { key: another } = await makeKey(gateway, wide as never);
    await client(gateway, another).get(`/quotes/${'long'.repeat(30)}`);
    await client(gateway, another).graphql('query Who { me { key { id } } }');
    await client(gateway, another).graphql(`{ ${ROOT_FIELDS.join(' { __typename } ')} { __typename } }`);
    const { requests } = gateway.control;
    const count = async ({ id: organisationId }: { id: string }) => (await requests.list({ organisationId }, 9)).length;
    // stopping writes them too, but gives up after 3 s
    await eventually(async () => (await count(organisation)) === 2 && (await count(wide)) === 3);
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
        id: expect.any(String),
        organisation_id: organisation.id,
        at: expect.any(String),
        request_id: 'mine',
        key_id: key.id,
        face: 'rest',
        method: 'GET',
        path: '/api/v1/quotes',
        operation: 'quotes',
        operation_type: null,
        operation_name: null,
        status: 200,
        code: null,
        reason: null,
        missing_scope: null,
        elements: null,
        elements_failed: null,
        ms: expect.any(Number),
        address: '127.0.0.1',
      },
    ]);
  });

  test('finds it without its organisation, and names that; other filters need one', async () => {
    const { stdout } = await cli.run('logs', '--request-id', 'mine');
    const [head, first] = stdout.split('\n');
    expect(head).toMatch(/^ORGANISATION +WHEN +KEY/);
    expect(first).toMatch(new RegExp(`^${organisation.id} .* mine$`));
    expect(await cli.json('logs', '--request-id', 'mine')).toMatchObject([{ organisation_id: organisation.id }]);
    expect(await cli.json('logs', '--request-id', 'of nobody')).toEqual([]);
    expect(await cli.failed(2, 'logs')).toContain('--org or --request-id is needed');
    const said = await cli.failed(2, 'logs', '--request-id', 'mine', '--failed');
    expect(said).toContain('without --org, --request-id is the only filter');
  });

  test('truncates long paths and lists of root fields in a table, but not in JSON', async () => {
    const { stdout } = await cli.run('logs', '--org', wide.id);
    const [, graphql, named, rest] = stdout.split('\n');
    expect(named).toMatch(/graphql +POST \/graphql +query Who +200/);
    expect(graphql).toMatch(/graphql +POST \/graphql +quotes, products \+4 +200/);
    expect(rest).toMatch(/rest +GET \/api\/v1\/quotes\/(long){12}lo… {2}quote +400/);
    expect(await cli.json('logs', '--org', wide.id)).toMatchObject([
      { operation: ROOT_FIELDS.join(' '), operation_type: 'query', operation_name: null },
      { operation: 'me', operation_type: 'query', operation_name: 'Who' },
      { path: `/api/v1/quotes/${'long'.repeat(30)}` },
    ]);
  });

  test('says when there are more requests than --limit shows, and only then', async () => {
    const [cut, whole] = [
      await cli.run('logs', '--org', organisation.id, '--limit', '1', '--json'),
      await cli.run('logs', '--org', organisation.id, '--limit', '2'),
    ];
    expect(JSON.parse(cut.stdout)).toHaveLength(1);
    expect(cut.stderr).toContain('Only the newest 1 are shown; there are more: see --limit');
    expect(whole.stderr).not.toContain('--limit');
  });

  test('says on stderr which requests are stored if none matches', async () => {
    const { code, stdout, stderr } = await cli.run('logs', '--org', organisation.id, '--since', '2999-01-01');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'No matching requests.\n' });
    expect(stderr).toContain('kept for 7 days; of the successful ones only some are stored');
  });

  test('an organisation that does not exist, and a key of another organisation, are not found', async () => {
    expect(await cli.failed(1, 'logs', '--org', NOBODY)).toContain(`organisation ${NOBODY} not found`);
    const said = await cli.failed(1, 'logs', '--org', wide.id, '--key', key.id);
    expect(said).toContain(`key ${key.id} not found; see scopegate key list --org ${wide.id}`);
  });

  test('says that gateways with REQUEST_LOG=off store nothing', async () => {
    const off = commandLine({ CONTROL_DATABASE: cli.controlDatabase, REQUEST_LOG: 'off' });
    const [on, rows] = [cli, off].map((one) => one.run('logs', '--org', organisation.id));
    expect((await rows!).stderr).toContain('warning: REQUEST_LOG=off: gateways with this setting store no requests');
    expect((await rows!).stdout).toBe((await on!).stdout);
    expect((await on!).stderr).not.toContain('REQUEST_LOG');
  });

  test.each([
    [['--failed'], 1],
    [['--since', '1d'], 2],
    [['--since', '2999-01-01'], 0],
    [['--status', '2xx'], 1],
    [['--status', '403', '--code', 'insufficient_scope'], 1],
    [['--operation', 'orders', '--face', 'graphql'], 0],
    [['--limit', '1'], 1],
  ])('filters by %j', async (options, count) => {
    const { stdout } = await cli.run('logs', '--org', organisation.id, ...options, '--json');
    expect(JSON.parse(stdout)).toHaveLength(count);
  });
});
