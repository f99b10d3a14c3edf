import { type ClientSession, type Model, trusted } from 'mongoose';
import type { AuditAction } from '../../src/organisations/auditEvents';
import type { AuditEvent } from '../../src/organisations/auditRows';
import { createAuditRecorder } from '../../src/organisations/auditRecorder';

/* How many events of each action an organisation, or a user, may cause in a day. */

const WHO = 'user:link:Ann';

/** Records an event where the database has as many as it is asked to skip, or none. */
async function record(action: AuditAction, isFull: boolean, who = WHO) {
  const asked: { filter: object; skip: number }[] = [];
  const rows = {
    updateOne: () => Promise.resolve({ upsertedCount: 1 }),
    create: () => Promise.resolve(),
    findOne: (filter: object, _projection: object, { skip }: { skip: number }) => {
      asked.push({ filter, skip });
      return { lean: () => Promise.resolve(isFull ? { at: new Date() } : null) };
    },
  };
  const recorder = createAuditRecorder(rows as unknown as Model<AuditEvent>);
  const recorded = recorder.inTransaction({} as ClientSession, { who, from: 'here' }, action, 'an id', {});
  return { asked, error: await recorded.then(() => undefined).catch((error: unknown) => error) };
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
])('%s: %i of the organisation', async (action, most) => {
  const { asked, error } = await record(action, true);
  const since = trusted({ $gt: expect.any(Date) });
  expect(asked).toEqual([{ filter: { organisation_id: 'an id', action, at: since }, skip: most }]);
  expect(error).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining(most.toLocaleString('en')) });
  expect((await record(action, false)).error).toBeUndefined();
});

test('sign-ins: 200 of each user', async () => {
  const { asked, error } = await record('user.signed_in', true);
  expect(asked).toMatchObject([{ filter: { 'actor.who': WHO }, skip: 200 }]);
  expect(error).toMatchObject({ code: 'rate_limited' });
});

test.each<AuditAction>(['key.revoked', 'webhook.disabled', 'webhook.deleted', 'invitation.revoked', 'user.signed_out'])(
  '%s, which ends access, is never counted',
  async (action) => {
    expect(await record(action, true)).toEqual({ asked: [], error: undefined });
  },
);

test('operators are counted like users, and the command line is not', async () => {
  expect((await record('key.created', true, 'operator:billing')).error).toBeDefined();
  expect((await record('key.created', true, 'cli:root')).error).toBeUndefined();
});
