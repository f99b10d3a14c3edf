import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoggedEvent, readEvents } from '../../src/cli/restored/lines';
import { planOf } from '../../src/cli/restored/plan';
import { createActions } from '../../src/cli/restored/steps';
import type { Store } from '../../src/cli/store';

jest.mock('../../src/resources/eraseCustomer', () => ({ eraseCustomer: () => Promise.resolve({ customers: 1 }) }));

/* What `scopegate restored --replay` makes of audit events, which are sorted by time. */

const ORGANISATION = '689defbf-4477-4b15-966e-4830b650ded3';

const happened = (...events: readonly (Partial<LoggedEvent> & Pick<LoggedEvent, 'action'>)[]) =>
  planOf(
    events.map((event, minute) => ({
      msg: 'audit event',
      at: new Date(minute * 60_000),
      organisation_id: ORGANISATION,
      actor: 'user:oidc:7',
      details: {},
      ...event,
    })),
  ).map(({ organisationId: _of, at: _at, ...step }) => step);

test('a customer who is erased again is read once, and so is its organisation', async () => {
  const find = jest.fn(() => Promise.resolve({ id: ORGANISATION, state: 'active' }));
  const findOne = jest.fn(() => Promise.resolve({ _id: 'c' }));
  const record = jest.fn(() => Promise.resolve());
  const store = {
    control: {
      as: () => ({ organisations: { find }, record }),
      audit: { hasCustomerEvent: () => Promise.resolve(false) },
    },
    databases: { organisationData: () => ({ collection: () => ({ findOne }) }) },
  } as unknown as Store;
  const step = { kind: 'erase_customer', organisationId: ORGANISATION, id: 'c', at: new Date() } as const;
  const { isDue, run } = createActions({ store, signal: new AbortController().signal })(step);
  expect(await isDue()).toBe(true);
  await run();
  expect(record).toHaveBeenCalledWith('customer.erased', ORGANISATION, { customer_id: 'c', customers: 1 });
  expect([find.mock.calls.length, findOne.mock.calls.length]).toEqual([1, 1]);
});

test('of opposites the last counts', () => {
  const [suspended, resumed] = [{ action: 'organisation.suspended' }, { action: 'organisation.resumed' }];
  expect(happened(suspended, resumed, suspended)).toEqual([{ kind: 'suspend', id: ORGANISATION }]);
  expect(happened(suspended, resumed)).toEqual([{ kind: 'resume', id: ORGANISATION }]);
  const details = { endpoint: 'e' };
  expect(happened({ action: 'webhook.disabled', details }, { action: 'webhook.enabled', details })).toEqual([]);
  expect(happened({ action: 'webhook.enabled', details }, { action: 'webhook.disabled', details })).toEqual([
    { kind: 'disable', id: 'e' },
  ]);
});

test('an organisation that was erased and brought back under its id is not erased, but one erased once more is', async () => {
  const [erasing, erased] = [{ action: 'organisation.erasing' }, { action: 'organisation.erased' }];
  const created = { action: 'organisation.created', details: { to: 'starter' } };
  expect(happened(erasing, erased, created)).toEqual([]);
  expect(happened(erasing, erased, { ...created, organisation_id: 'another' })).toEqual([
    { kind: 'erase', id: ORGANISATION },
  ]);
  expect(happened(erasing, erased, created, erasing)).toEqual([{ kind: 'erase', id: ORGANISATION }]);
  // the replay erased it again, and it was brought back since
  const isDue = (at: Date): Promise<boolean | undefined> => {
    const find = () => Promise.resolve({ id: ORGANISATION, state: 'active', created_at: new Date(0) });
    const audit = { list: () => Promise.resolve([{ at }]) };
    const store = { control: { as: () => ({ organisations: { find } }), audit } } as unknown as Store;
    const step = { kind: 'erase', organisationId: ORGANISATION, id: ORGANISATION, at: new Date(2000) } as const;
    return createActions({ store, signal: new AbortController().signal })(step).isDue();
  };
  expect([await isDue(new Date(1000)), await isDue(new Date(3000))]).toEqual([true, false]);
});

test('a customer who was erased and readmitted is erased before being readmitted', () => {
  const details = { customer_id: 'c' };
  const [erased, readmitted] = [
    { action: 'customer.erased', details },
    { action: 'customer.readmitted', details },
  ];
  expect(happened(erased, readmitted).map(({ kind }) => kind)).toEqual(['erase_customer', 'readmit']);
  expect(happened(erased, readmitted, erased).map(({ kind }) => kind)).toEqual(['erase_customer']);
});

test("a key's changes are one, with the end that its replacement set", () => {
  const [soon, late] = [new Date(1000), new Date(2000)];
  const key_id = 'k';
  expect(
    happened(
      { action: 'key.updated', key_id, details: { to: { scopes: ['quotes:read', 'orders:read'], expires_at: late } } },
      { action: 'key.updated', key_id, details: { to: { scopes: ['quotes:read'] } } },
      { action: 'key.rotated', key_id, details: { old_expires_at: soon } },
    ),
  ).toEqual([{ kind: 'change', id: 'k', update: { scopes: ['quotes:read'], expires_at: soon } }]);
});

test('whoever signed out is signed out, everyone if it was everyone, and an invitation that was revoked or used ends', () => {
  expect(
    happened(
      { action: 'user.signed_out' },
      { action: 'user.signed_out', actor: 'cli:root', details: { everywhere: 'link:Ann' } },
      { action: 'user.signed_out', actor: 'cli:root', details: { everywhere: 'everyone' } },
      { action: 'invitation.revoked', details: { user: 'invited:Bo' } },
      { action: 'invitation.accepted', actor: 'user:invited:Cy' },
    ).map(({ kind, id }) => [kind, id]),
  ).toEqual(['oidc:7', 'link:Ann', '', 'invited:Bo', 'invited:Cy'].map((id) => ['sign_out', id]));
});

test('what ends access comes first, and what was only created or does not say what it was of is left out', () => {
  const kinds = happened(
    { action: 'customer.erased', details: { customer_id: 'c' } },
    { action: 'key.created', key_id: 'n' },
    { action: 'webhook.deleted' },
    { action: 'organisation.plan_changed', details: { to: 'starter' } },
    { action: 'organisation.erasing' },
    { action: 'organisation.erased' },
    { action: 'key.revoked', key_id: 'k' },
  ).map(({ kind }) => kind);
  expect(kinds).toEqual(['plan', 'erase', 'revoke', 'erase_customer']);
});

test('ids are of any version of UUID, and a line that cannot be read is counted, since it may be an audit event', async () => {
  const line = (key_id: string, details = {}) =>
    JSON.stringify({
      action: 'key.updated',
      at: '2026-11-29T00:00:00.000Z',
      organisation_id: ORGANISATION,
      key_id,
      actor: 'cli:root',
      details,
      msg: 'audit event',
    });
  const imported = 'ABCDEF00-0000-0000-0000-000000000001';
  const long = line(ORGANISATION, { to: { scopes: Array.from({ length: 10_000 }, () => 'quotes:read') } });
  const notText = Buffer.concat([Buffer.from([0xff]), Buffer.from(line(ORGANISATION))]);
  const path = join(await mkdtemp(join(tmpdir(), 'scopegate-log-')), 'log');
  await writeFile(
    path,
    Buffer.concat([Buffer.from([line(imported), long, '{"msg":"request"}', ''].join('\n')), notText]),
  );
  const { events, lines } = await readEvents(path, new Date(0), new AbortController().signal);
  expect(events.map(({ key_id }) => key_id)).toEqual([imported.toLowerCase()]);
  expect(lines).toEqual({ read: 4, earlier: 0, malformed: 2 });
});
