import type { ClientSession, Model } from 'mongoose';
import type { AuditAction } from '../../src/organisations/auditEvents';
import type { AuditEvent } from '../../src/organisations/auditRows';
import { createAuditRecorder } from '../../src/organisations/auditRecorder';

/* How many events of each action an organisation, or a user, may cause in a day. */

const WHO = 'user:link:Ann';
const AGE = 1000;

type Stored = Pick<AuditEvent, 'organisation_id' | 'action' | 'actor' | 'at' | 'times'>;

/** So many earlier events of somebody; those of people and operators have `times`. */
const earlier = (action: AuditAction, count: number, who = WHO): Stored[] =>
  Array.from({ length: count }, () => ({
    organisation_id: 'an id',
    action,
    actor: { who, from: 'here' },
    at: new Date(Date.now() - AGE),
    ...(!who.startsWith('cli:') && { times: 1 }),
  }));

type Filter = Pick<Stored, 'organisation_id' | 'action'> & {
  readonly at: { readonly $gt: Date };
  readonly times?: object;
  readonly 'actor.who'?: string;
};

/** Records an event after others, and resolves with its error and how often events were counted. */
async function record(action: AuditAction, events: readonly Stored[], who = WHO) {
  const stored = [...events];
  let counts = 0;
  const store = (event: object) => Promise.resolve(stored.unshift(event as Stored)).then(() => ({ upsertedCount: 1 }));
  const rows = {
    updateOne: (_id: object, { $setOnInsert }: { $setOnInsert: object }) => store({ ...$setOnInsert, times: 1 }),
    create: ([event]: object[]) => store(event!),
    findOne: (filter: Filter, _projection: object, { skip }: { skip: number }) => {
      counts += 1;
      const counted = stored.filter(
        (event) =>
          event.organisation_id === filter.organisation_id &&
          event.action === filter.action &&
          event.at > filter.at.$gt &&
          (!filter.times || event.times !== undefined) &&
          [undefined, event.actor.who].includes(filter['actor.who']),
      );
      return { lean: () => Promise.resolve(counted[skip] ?? null) };
    },
  };
  const recorder = createAuditRecorder(rows as unknown as Model<AuditEvent>, Date.now);
  const recorded = recorder.inTransaction({} as ClientSession, { who, from: 'here' }, action, 'an id', {});
  return { counts, error: await recorded.then(() => undefined).catch((error: unknown) => error) };
}

test.each<[AuditAction, number]>([
  ['key.created', 1000],
  ['key.rotated', 1000],
  ['key.updated', 1000],
  ['webhook.created', 1000],
  ['webhook.updated', 1000],
  ['webhook.rotated', 1000],
  ['webhook.enabled', 1000],
  ['organisation.renamed', 1000],
  ['sandbox.created', 100],
  ['link.created', 10_000],
  ['invitation.created', 1000],
])('%s: %i of the organisation, beside any number by the command line', async (action, most) => {
  const { error } = await record(action, earlier(action, most));
  expect(error).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining(most.toLocaleString('en')) });
  const others = [...earlier(action, most, 'cli:root'), ...earlier(action, most - 1)];
  expect((await record(action, others)).error).toBeUndefined();
});

test('sign-ins: 200 of each user', async () => {
  const { error } = await record('user.signed_in', earlier('user.signed_in', 200));
  expect(error).toMatchObject({ code: 'rate_limited' });
  const others = [...earlier('user.signed_in', 200, 'user:link:Bob'), ...earlier('user.signed_in', 199)];
  expect((await record('user.signed_in', others)).error).toBeUndefined();
});

test.each<AuditAction>(['key.revoked', 'webhook.disabled', 'webhook.deleted', 'invitation.revoked', 'user.signed_out'])(
  '%s, which ends access, is never counted',
  async (action) => {
    expect(await record(action, earlier(action, 10_000))).toEqual({ counts: 0, error: undefined });
  },
);

test('operators are counted like users, and the command line is not', async () => {
  const full = earlier('key.created', 1000);
  expect((await record('key.created', full, 'operator:billing')).error).toBeDefined();
  expect(await record('key.created', full, 'cli:root')).toEqual({ counts: 0, error: undefined });
});
