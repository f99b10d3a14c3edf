import { allScopes } from '../../src/auth/scopes';
import { client } from '../support/client';
import { makeKey } from '../support/factories';
import { userArguments, documentOf, userOperations } from '../support/operations';
import { startRecordedGateway } from './commands';
import { makeStocked, SAME_ID, seen } from '../support/fixtures/contract';
import { late, servedBy } from '../support/gateway';

const gateway = servedBy(startRecordedGateway);
const organisation = late(() => makeStocked(gateway));
const key = late(() => makeKey(gateway, organisation, { scopes: allScopes() }));
const caller = late(() => Promise.resolve(client(gateway, key.key)));

test('the operations for users are those of the settings page, and have no REST routes', () => {
  const ofRole = (role: string) => userOperations.flatMap((one) => (one.role === role ? [one.name] : [])).sort();
  expect(userOperations.filter(({ rest }) => rest)).toEqual([]);
  expect(ofRole('member').join(' ')).toBe(
    'audit_events invitations key keys logged_request members request_counts request_histogram request_log usage ' +
      'usage_by_key webhook_deliveries webhook_delivery webhook_message webhook_statistics webhooks',
  );
  expect(ofRole('admin').join(' ')).toBe(
    'create_invitation create_key create_webhook delete_webhook disable_webhook enable_webhook resend_event ' +
      'revoke_invitation revoke_key rotate_key rotate_webhook send_test_event sign_out update_key update_webhook',
  );
  expect(userOperations).toHaveLength(31);
});

/** The answer to a call, and the commands that were sent meanwhile; again if the gateway's maintenance of indexes sent some as well. */
async function asked(operation: (typeof userOperations)[number], args: Record<string, unknown>) {
  for (let left = 5; ; left -= 1) {
    gateway.commands.length = 0;
    const answer = await caller.graphql(documentOf(operation), args, SAME_ID);
    const sent = gateway.commands.map(({ name, collection }) => `${name} ${collection}`);
    if (sent.length === 1 || left === 0) return { answer, sent };
  }
}

describe('a key with every scope', () => {
  test.each(userOperations)(
    'may not call $name, and is rejected before arguments are checked or data are read',
    async (operation) => {
      await caller.get('/me');
      const answers = new Set<string>();
      for (const args of [userArguments(operation, key.id), userArguments(operation, 'no-uuid')]) {
        const { answer, sent } = await asked(operation, args);
        expect(answer.status).toBe(200);
        expect(answer.body.data[operation.name]).toBeNull();
        expect(answer.body.errors).toMatchObject([{ extensions: { code: 'forbidden', status: 403 } }]);
        answers.add(JSON.stringify(seen(answer)));
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
