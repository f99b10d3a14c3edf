import { ALL_SCOPES } from '../../src/auth/scopes';
import { type Client, client } from '../support/client';
import { makeKey } from '../support/factories';
import { userArguments, documentOf, userOperations } from '../support/operations';
import { SAME_ID, seen } from './answers';
import { startRecordedGateway } from './commands';
import { makeStocked } from './scene';
import { servedBy } from '../support/gateway';

let caller: Client;
let key: { id: string; key: string };

const gateway = servedBy(startRecordedGateway);
beforeAll(async () => {
  const organisation = await makeStocked(gateway);
  key = await makeKey(gateway, organisation, { scopes: ALL_SCOPES });
  caller = client(gateway, key.key);
});

test('the operations for users are those of the settings page, and have no REST routes', () => {
  expect(userOperations.map(({ name, role, rest }) => [name, role, rest]).sort()).toEqual([
    ['api_key', 'member', undefined],
    ['api_keys', 'member', undefined],
    ['audit_events', 'member', undefined],
    ['create_api_key', 'admin', undefined],
    ['create_webhook_endpoint', 'admin', undefined],
    ['delete_webhook_endpoint', 'admin', undefined],
    ['disable_webhook_endpoint', 'admin', undefined],
    ['enable_webhook_endpoint', 'admin', undefined],
    ['key_usage', 'member', undefined],
    ['members', 'member', undefined],
    ['organisation_usage', 'member', undefined],
    ['request_log', 'member', undefined],
    ['resend_event', 'admin', undefined],
    ['revoke_api_key', 'admin', undefined],
    ['rotate_api_key', 'admin', undefined],
    ['rotate_webhook_endpoint', 'admin', undefined],
    ['send_test_event', 'admin', undefined],
    ['update_api_key', 'admin', undefined],
    ['update_webhook_endpoint', 'admin', undefined],
    ['webhook_deliveries', 'member', undefined],
    ['webhook_endpoints', 'member', undefined],
  ]);
});

describe('a key with every scope', () => {
  test.each(userOperations)(
    'may not call $name, and is rejected before arguments are checked or data are read',
    async (operation) => {
      await caller.get('/me');
      const answers = new Set<string>();
      for (const args of [userArguments(operation, key.id), userArguments(operation, 'no-uuid')]) {
        gateway.commands.length = 0;
        const answer = await caller.graphql(documentOf(operation), args, SAME_ID);
        expect(answer.status).toBe(200);
        expect(answer.body.data[operation.name]).toBeNull();
        expect(answer.body.errors).toMatchObject([{ extensions: { code: 'forbidden', status: 403 } }]);
        answers.add(JSON.stringify(seen(answer)));
        const sent = gateway.commands.map(({ name, collection }) => `${name} ${collection}`);
        expect(sent).toEqual(['find api_keys']);
      }
      expect(answers.size).toBe(1);
    },
  );

  test('is still active afterwards, and no other key was created', async () => {
    const { body } = await caller.get('/me');
    expect(body.key.id).toBe(key.id);
    const keys = await gateway.control.apiKeys.list(body.organisation.id as string);
    expect(keys.map(({ revoked_at }) => revoked_at)).toEqual([null]);
  });
});
