import { indexesOf } from '../../src/mongo/indexes';
import { CONTROL_INDEXES, CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { controlCollections } from '../../src/organisations/models';

test('the numbers of the control schema are raised when its indexes change', () => {
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
  const retired = controlCollections.flatMap((definition) => definition.retired);
  /*
   * Another index: raise CONTROL_INDEXES by one, or databases that have this number do not get it. One that is no longer needed: name it in
   * `retired` (RETIRED in models.ts), and raise both, CONTROL_SCHEMA to no more than CONTROL_INDEXES; `doctor --fix` then drops it, and versions
   * with a lower CONTROL_SCHEMA no longer start. One with other options is both: another name, and the former one in `retired`
   * (docs/decisions/control-schema.md).
   */
  expect({ schema: CONTROL_SCHEMA, numberOfIndexes: CONTROL_INDEXES, retired, indexes }).toEqual({
    schema: 12,
    numberOfIndexes: 13,
    retired: ['cluster_1_created_at_1__id_1', 'cluster_1_files_1', 'copies.cluster_1'],
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
      oauth_clients: ['ends_at_1 expires 0', 'allowed_at_1_created_at_-1'],
      request_log: [
        'at_1 expires 604800',
        'organisation_id_1_at_-1__id_-1',
        'organisation_id_1_failed_1_at_-1__id_-1',
        'organisation_id_1_request_id_1',
      ],
    },
  });
  // databases of earlier versions have `version` alone, and would not get the indexes between the two
  expect(CONTROL_SCHEMA).toBeLessThanOrEqual(CONTROL_INDEXES);
});
