import { indexesOf } from '../../src/mongo/indexes';
import { CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { controlCollections } from '../../src/organisations/models';

test('the version of the control schema is raised when its indexes change', () => {
  const indexes = Object.fromEntries(
    controlCollections.map((definition) => [
      definition.name,
      indexesOf(definition).map(({ name, unique, expireAfterSeconds }) =>
        [name, unique && 'unique', expireAfterSeconds !== undefined && `expires ${String(expireAfterSeconds)}`]
          .filter(Boolean)
          .join(' '),
      ),
    ]),
  );
  // to change this, raise CONTROL_SCHEMA: otherwise databases that already have its number get no new indexes
  expect({ version: CONTROL_SCHEMA, indexes }).toEqual({
    version: 12,
    indexes: {
      organisations: ['created_at_1__id_1', 'move.to_1', 'sandbox_of_1 unique', 'external_ref_1 unique'],
      api_keys: [
        'organisation.id_1_created_at_1',
        'organisation.id_1_revoked_at_1_expires_at_1',
        'revoked_at_1 expires 7776000',
        'expires_at_1 expires 7776000',
      ],
      audit_events: [
        'at_-1__id_-1',
        'organisation_id_1_at_-1__id_-1',
        'organisation_id_1_key_id_1_at_-1__id_-1',
        'organisation_id_1_action_1_at_-1__id_-1',
        'organisation_id_1_actor.who_1_at_-1__id_-1',
      ],
      sessions: ['ends_at_1 expires 0', 'organisation_id_1_user.id_1'],
      sign_in_links: ['ends_at_1 expires 0', 'organisation_id_1_user.id_1'],
      key_usage: ['ends_at_1 expires 0', 'key_id_1_unit_1_start_1'],
      webhook_endpoints: ['organisation_id_1_created_at_1', 'due_1', 'state_1'],
      creations: ['ends_at_1 expires 0'],
      jobs: ['ended_at_1_created_at_1', 'ends_at_1 expires 0'],
      members: ['organisation_id_1_last_sign_in_at_-1__id_-1'],
      request_log: [
        'at_1 expires 604800',
        'organisation_id_1_at_-1__id_-1',
        'organisation_id_1_failed_1_at_-1__id_-1',
        'organisation_id_1_request_id_1',
      ],
    },
  });
});
