import type { Plan } from '../../src/access/plans';
import type { Organisation } from '../../src/access/principal';
import { type Client, client } from '../support/client';
import { makeKey } from '../support/factories';
import { argumentsOf, CALLS } from '../support/operations';
import { startRecordedGateway, type RecordedGateway } from './commands';
import { IDS, makeStocked } from './scene';

let gateway: RecordedGateway;
let organisation: Organisation;
let caller: Client;

beforeAll(async () => {
  gateway = await startRecordedGateway();
  organisation = await makeStocked(gateway);
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

function setPlan(plan: Plan): Promise<unknown> {
  return gateway.control.organisations.setPlan(organisation.id, plan);
}

describe('a plan without integrations', () => {
  test.each(CALLS)(
    'blocks $operation.name over $face.name from the next request on, until the plan changes again',
    async ({ operation, face }) => {
      const args = argumentsOf(operation, IDS);
      await setPlan('starter');
      gateway.commands.length = 0;
      const closed = await face.call(caller, operation, args);
      expect(closed.status).toBe(403);
      expect(face.errorOf(closed)).toMatchObject({ code: 'plan_required', status: 403 });
      expect(closed.headers.has('ratelimit')).toBe(true);
      expect(gateway.commands.filter(({ database }) => database.startsWith('org_'))).toEqual([]);
      await setPlan('enterprise');
      expect(face.errorOf(await face.call(caller, operation, args))).toBeUndefined();
    },
  );

  test('blocks a whole GraphQL request, including introspection', async () => {
    await setPlan('starter');
    const { status, body } = await caller.graphql('{ __typename __schema { types { name } } }');
    expect(status).toBe(403);
    expect(body).toEqual({
      errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'plan_required' }) })],
    });
    await setPlan('integrations');
  });

  test('blocks a key created in the meantime, until the plan changes', async () => {
    await setPlan('starter');
    const other = client(gateway, (await makeKey(gateway, organisation)).key);
    expect((await other.get('/me')).body.code).toBe('plan_required');
    await setPlan('integrations');
    expect((await other.get('/me')).body.organisation.plan).toBe('integrations');
  });

  test('does not affect other organisations', async () => {
    const elsewhere = client(gateway, (await makeKey(gateway, await makeStocked(gateway))).key);
    await setPlan('starter');
    expect((await elsewhere.get('/me')).status).toBe(200);
    await setPlan('integrations');
  });
});
