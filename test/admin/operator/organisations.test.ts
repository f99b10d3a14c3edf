import { randomUUID } from 'node:crypto';
import { makeKey } from '../../support/factories';
import { client } from '../../support/client';
import { shardOfAny } from '../../support/differences';
import { served } from '../../support/gateway';
import { newRef, operator, TOKENS } from './operator';

const gateway = served(TOKENS);
const caller = () => operator(gateway);
const create = async (more: object = {}) =>
  (await caller().post('/organisations', { name: 'Acme', ...more })).body as { readonly id: string };
const auditOf = async (organisationId: string) =>
  (await gateway.control.audit.list({ organisationId, limit: 50 })).map(({ action, actor, details }) => ({
    action,
    who: actor.who,
    details,
  }));

test('an organisation is created with defaults, read at its Location, and audited with the name of the token', async () => {
  const { status, headers, body } = await caller().post('/organisations', { name: ' Acme Ltd ' });
  expect([status, headers.get('location')]).toEqual([201, `/operator/v1/organisations/${String(body.id)}`]);
  expect(body).toEqual({
    id: expect.any(String),
    name: 'Acme Ltd',
    plan: 'integrations',
    currency: 'USD',
    shard: await shardOfAny(gateway.databases.control.getClient()),
    state: 'active',
    external_ref: null,
    sandbox_of: null,
    created_at: expect.any(String),
  });
  const read = await caller().get(`/organisations/${String(body.id)}`);
  expect([read.status, read.body, read.headers.has('etag')]).toEqual([200, body, true]);
  expect(await auditOf(body.id)).toEqual([
    {
      action: 'organisation.created',
      who: 'operator:billing',
      details: { name: 'Acme Ltd', plan: 'integrations', currency: 'USD' },
    },
  ]);
});

test('the same external_ref again gets the existing organisation, with 200', async () => {
  const external_ref = newRef();
  const first = await caller().post('/organisations', { name: 'One', plan: 'starter', external_ref });
  const again = await caller().post('/organisations', { name: 'Two', plan: 'enterprise', external_ref });
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect(again.body).toEqual(first.body);
  expect(await auditOf(first.body.id)).toHaveLength(1);
});

test('callers that create the same external_ref concurrently get one organisation', async () => {
  const external_ref = newRef();
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, at) => caller().post('/organisations', { name: `Try ${String(at)}`, external_ref })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 11 }, () => 200), 201]);
  expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
  expect((await caller().get(`/organisations?external_ref=${external_ref}`)).body.data).toHaveLength(1);
});

test('lists filter by plan, state, external_ref and a part of the name, and page without repeats', async () => {
  const mark = randomUUID();
  const made: string[] = [];
  for (let at = 0; at < 5; at += 1) made.push((await create({ name: `${mark} ${String(at)}.x*`, plan: 'starter' })).id);
  await caller().patch(`/organisations/${made[0]!}`, { state: 'suspended', plan: 'enterprise' });
  const found: string[] = [];
  let next = `/organisations?q=${mark.toUpperCase()}&limit=2`;
  for (let at = 0; at < 10 && next !== ''; at += 1) {
    const { body, headers } = await caller().get(next);
    found.push(...body.data.map(({ id }: { id: string }) => id));
    next = /<\/operator\/v1([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  }
  expect(found).toEqual(made.toReversed());
  const idsOf = async (query: string) =>
    (await caller().get(`/organisations?q=${mark}&${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect(await idsOf('plan=enterprise')).toEqual([made[0]]);
  expect(await idsOf('state=suspended')).toEqual([made[0]]);
  expect(await idsOf('state=active')).toHaveLength(4);
  const literal = await caller().get(`/organisations?q=${encodeURIComponent(`${mark} 3.x*`)}`);
  expect(literal.body.data).toHaveLength(1);
  const { body } = await caller().get(`/organisations?q=${mark}&limit=2`);
  const wrong = await caller().get(`/organisations?q=other&cursor=${String(body.next_cursor)}`);
  expect([wrong.status, wrong.body.errors[0].code]).toEqual([400, 'cursor']);
});

test('a change of name, plan and state is one transaction that its keys see at once, with an audit event for each', async () => {
  const { id } = await create();
  const { key } = await makeKey(gateway, (await gateway.control.organisations.find(id))!);
  const changed = await caller().patch(`/organisations/${id}`, { name: 'New', plan: 'starter', state: 'suspended' });
  expect(changed.body).toMatchObject({ id, name: 'New', plan: 'starter', state: 'suspended' });
  expect((await client(gateway, key).get('/me')).body.code).toBe('organisation_suspended');
  expect((await caller().patch(`/organisations/${id}`, { state: 'active' })).body.state).toBe('active');
  expect((await client(gateway, key).get('/me')).body.code).toBe('plan_required');
  await caller().patch(`/organisations/${id}`, { plan: 'enterprise' });
  expect((await client(gateway, key).get('/me')).status).toBe(200);
  // nothing changes, nothing is recorded
  await caller().patch(`/organisations/${id}`, { plan: 'enterprise', name: 'New' });
  await caller().patch(`/organisations/${id}`, {});
  const audit = (await auditOf(id)).filter(({ who }) => who === 'operator:billing');
  expect(audit.map(({ action }) => action).sort()).toEqual(
    [
      ...['organisation.created', 'organisation.plan_changed', 'organisation.plan_changed', 'organisation.renamed'],
      ...['organisation.resumed', 'organisation.suspended'],
    ].sort(),
  );
});

test('an organisation without an external_ref can be given one, which then never changes', async () => {
  const [{ id }, ref] = [await create(), newRef()];
  const { key } = await makeKey(gateway, (await gateway.control.organisations.find(id))!);
  for (let at = 0; at < 2; at += 1) {
    const { status, body } = await caller().patch(`/organisations/${id}`, { external_ref: ref });
    expect([status, body.external_ref]).toEqual([200, ref]);
  }
  const again = await caller().post('/organisations', { name: 'Acme', external_ref: ref });
  expect([again.status, again.body.id]).toEqual([200, id]);
  const other = await create();
  for (const [at, external_ref] of [
    [id, newRef()],
    [other.id, ref],
  ] as const) {
    const { status, body } = await caller().patch(`/organisations/${at}`, { external_ref, name: 'Not stored' });
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([409, '/external_ref', 'conflict']);
    expect((await caller().get(`/organisations/${at}`)).body.name).toBe('Acme');
  }
  // as an import of an export does it, and the command line
  const { organisations } = gateway.control;
  const members = { name: 'Not stored', plan: 'integrations', currency: 'USD' };
  for (const refused of [
    organisations.restore(other.id, { ...members, external_ref: ref }),
    organisations.create({ ...members, external_ref: ref }),
  ])
    await expect(refused).rejects.toThrow('another organisation has this external_ref');
  const sameId = organisations.create({ ...members, id: other.id, external_ref: newRef() });
  await expect(sameId).rejects.toMatchObject({ code: 11000 });
  expect((await client(gateway, key).get('/me')).body.organisation).not.toHaveProperty('external_ref');
  expect((await auditOf(id))[0]).toMatchObject({ action: 'organisation.ref_set', details: { external_ref: ref } });
});

test.each([
  [{ plan: null }, '/plan', 'required', 'must not be null'],
  [{ external_ref: null }, '/external_ref', 'required', 'must not be null'],
  [{ external_ref: 'a\u0000b' }, '/external_ref', 'format', 'must be one non-blank line of visible characters'],
])('a change to %j is refused with one fault', async (body, pointer, code, detail) => {
  const answer = await caller().patch(`/organisations/${(await create()).id}`, body);
  expect([answer.status, answer.body.errors]).toEqual([422, [{ pointer, code, detail }]]);
});

test('a sandbox shows its owner, and refuses a plan and a state of its own', async () => {
  const { id } = await create({ name: 'Owner' });
  const actor = { who: 'cli:test', from: 'here' };
  const { organisation } = (await gateway.control.sandboxes.create({ of: id, willBeSeeded: false }, actor))!;
  const path = `/organisations/${organisation.id}`;
  expect((await caller().get(path)).body).toMatchObject({ sandbox_of: id, state: 'active' });
  for (const change of [{ plan: 'starter' }, { state: 'suspended' }]) {
    const { status, body } = await caller().patch(path, change);
    expect([status, body.code, body.detail]).toEqual([
      409,
      'conflict',
      expect.stringContaining(`change those of ${id}`),
    ]);
  }
  expect((await caller().patch(path, { name: 'Renamed' })).body.name).toBe('Renamed');
  await caller().patch(`/organisations/${id}`, { state: 'suspended' });
  expect((await caller().get(path)).body.state).toBe('suspended');
});

test.each([
  [{}, '/name', 'required'],
  [{ name: '' }, '/name', 'length'],
  [{ name: 'two\nlines' }, '/name', 'format'],
  [{ name: 'A', plan: 'gold' }, '/plan', 'not_allowed'],
  [{ name: 'A', shard: 'elsewhere' }, '/shard', 'not_allowed'],
  [{ name: 'A', currency: 'XXQ' }, '/currency', 'format'],
  [{ name: 'A', external_ref: '' }, '/external_ref', 'length'],
  [{ name: 'A', external_ref: 'a\u0000b' }, '/external_ref', 'format'],
  [{ name: 'A', sandbox_of: randomUUID() }, '/sandbox_of', 'unknown'],
])('%j is refused at %s', async (body, pointer, code) => {
  const answer = await caller().post('/organisations', body);
  expect([answer.status, answer.body.errors]).toEqual([422, [expect.objectContaining({ pointer, code })]]);
});

test('unknown organisations, routes, methods and parameters get the same errors as in the API of keys', async () => {
  const gone = `/organisations/${randomUUID()}`;
  expect((await caller().get(gone)).status).toBe(404);
  expect((await caller().patch(gone, { name: 'A' })).status).toBe(404);
  expect((await caller().get('/organisations/none')).status).toBe(400);
  expect((await caller().get('/organisations?colour=red')).body.errors[0].code).toBe('unknown');
  expect((await caller().get('/nowhere')).status).toBe(404);
  const { status, headers } = await caller().remove('/organisations');
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  expect((await caller().patch(`/organisations/${(await create()).id}`, { name: null })).status).toBe(422);
});

test('GraphQL answers the same as REST', async () => {
  const made = await caller().graphql(
    `mutation($ref: String) { create_organisation(name: "By GraphQL", external_ref: $ref, plan: starter) { id plan external_ref } }`,
    { ref: newRef() },
  );
  const { id } = made.body.data.create_organisation as { readonly id: string };
  const read = await caller().graphql(
    `query($id: ID!) { organisation(id: $id) { id name plan currency shard state external_ref sandbox_of created_at }
      organisations(q: "By GraphQL", limit: 1) { data { id } has_more } }`,
    { id },
  );
  expect(read.body.data.organisation).toEqual((await caller().get(`/organisations/${id}`)).body);
  expect(read.body.data.organisations.data).toEqual([{ id }]);
  const changed = await caller().graphql(
    `mutation($id: ID!) { update_organisation(id: $id, state: suspended) { state } }`,
    { id },
  );
  expect(changed.body.data.update_organisation).toEqual({ state: 'suspended' });
  const fault = await caller().graphql(`{ organisation(id: "${randomUUID()}") { id } }`);
  expect(fault.body.errors[0].extensions).toMatchObject({ code: 'not_found', status: 404 });
});
