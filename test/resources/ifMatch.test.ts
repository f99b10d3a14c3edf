import { randomUUID } from 'node:crypto';
import { concatAST, parse } from 'graphql';
import { collections, resolvers } from '../../src/resources';
import { changeObject, type ChangeArguments } from '../../src/stored/change';
import { deriveResolvers } from '../../src/stored/derived';
import { quotes } from '../../src/resources/quotes';
import { bodySchema, buildOpenApi } from '../../tools/openapi';
import { buildSchemas, type Schemas } from '../../src/operations/build';
import { mergeResolvers, type Resolver } from '../../src/operations/run';
import { loadDocument } from '../../src/schema/sdl';
import { storedTypes } from '../../src/schema/storedTypes';
import { settingsResolvers } from '../../src/settings/resolvers';
import type { Answer, Json } from '../support/client';
import { query } from '../support/faces';
import { callerOf, makeNorthwind } from '../support/factories';
import { late, served } from '../support/gateway';
import { document } from '../support/openapi';
import { RESOURCES } from '../support/resources';

/* Writes of quotes with If-Match, which only this test declares, and the entity tag of every type in GraphQL. */

// functions, because imports of the test build the schema before this file runs
function sdl(): string {
  return `
  extend type Mutation {
    "Change a quote."
    change_quote(
      id: ID!
      "The version to change."
      if_match: String
      status: QuoteStatus @constraint(not_null: true)
      decided_at: DateTime
      valid_until: Date
    ): Quote @rest(method: PATCH, path: "/quotes/:id") @access(scope: QUOTES_WRITE)
    "Touch a quote, whose version must be given."
    touch_quote(id: ID!, if_match: String!): Quote @rest(method: DELETE, path: "/quotes/:id") @access(scope: QUOTES_WRITE)
  }
  ${[...storedTypes(loadDocument()).keys()].map((type) => `extend type ${type} { etag: String! @graphql_only }`).join('\n')}`;
}

/** Makes writers wait for each other between check and write, if a test sets it. */
let meet: (() => Promise<void>) | undefined;

const slow = {
  ...quotes,
  records: {
    ...quotes.records!,
    store: async (...args: Parameters<NonNullable<typeof quotes.records>['store']>) => {
      await meet?.();
      return quotes.records!.store(...args);
    },
  },
};
function change(...[, args, context, info]: Parameters<Resolver>): unknown {
  return changeObject(slow, args as ChangeArguments, context, info);
}

function schemas(): Schemas {
  const extended = concatAST([loadDocument(), parse(sdl())]);
  const own = { Mutation: { change_quote: change, touch_quote: change } };
  return buildSchemas(
    extended,
    mergeResolvers(deriveResolvers(extended, collections), resolvers, settingsResolvers, own),
    collections,
  );
}

jest.mock('../../src/published', () => ({ publishedSchemas: () => schemas() }));

let row: Json;

const gateway = served();
const caller = late(() => callerOf(gateway, makeNorthwind(gateway, 5)));
const stranger = late(() => callerOf(gateway));
beforeEach(async () => {
  meet = undefined;
  row = (await caller.get('/quotes', { limit: 1 })).body.data[0];
});

const read = (): Promise<Answer> => caller.get(`/quotes/${String(row.id)}`);
const tagNow = async (): Promise<string> => (await read()).headers.get('etag')!;

function patch(body: object, headers: Record<string, string> = {}, as = caller, id = String(row.id)): Promise<Answer> {
  const json = { 'content-type': 'application/json', ...headers };
  return as.send('PATCH', `/quotes/${id}`, { body: JSON.stringify(body), headers: json });
}

const DOCUMENT = `mutation($id: ID!, $if_match: String, $valid_until: Date) {
  change_quote(id: $id, if_match: $if_match, valid_until: $valid_until) { etag valid_until } }`;

function mutate(valid_until: string | null, if_match?: string | null): Promise<Answer> {
  return caller.graphql(DOCUMENT, { id: row.id, valid_until, if_match });
}

let days = 0;
/** A day that no quote has. */
const day = (): string => new Date(Date.UTC(2030, 0, (days += 1))).toISOString().slice(0, 10);

test('a change with the current version is stored, and returns the new object and its ETag', async () => {
  const before = await read();
  const valid_until = day();
  const changed = await patch({ valid_until }, { 'if-match': before.headers.get('etag')! });
  const after = await read();
  expect([changed.status, changed.body]).toEqual([
    200,
    { ...before.body, valid_until, updated_at: expect.any(String) },
  ]);
  expect(changed.body.updated_at > before.body.updated_at).toBe(true);
  expect(after.text).toBe(changed.text);
  expect(changed.headers.get('etag')).toBe(after.headers.get('etag'));
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
});

test('a change with an older version gets 412 in both APIs and stores nothing', async () => {
  const old = await tagNow();
  await patch({ valid_until: day() });
  const before = await read();
  const { status, body, headers } = await patch({ valid_until: day() }, { 'if-match': old });
  expect([status, headers.get('content-type'), headers.has('etag')]).toEqual([412, 'application/problem+json', false]);
  expect(body).toMatchObject({ type: '/errors/precondition_failed', code: 'precondition_failed', status: 412 });
  const graphql = await mutate(day(), old);
  expect(graphql.body).toMatchObject({ errors: [{ extensions: { code: 'precondition_failed', status: 412 } }] });
  expect((await read()).text).toBe(before.text);
});

test.each<[string, (tag: string) => string | undefined, number]>([
  ['no version', () => undefined, 200],
  ['any version', () => '*', 200],
  ['the tag among others', (tag) => `"a,b", ${tag} ,W/"c"`, 200],
  ['the tag as a weak one', (tag) => `W/${tag}`, 412],
  ['other tags', () => '"other", "another"', 412],
  ['the tag inside another', (tag) => `"x${tag.slice(1)}`, 412],
  ['the tag without quotes', (tag) => tag.slice(1, -1), 400],
  ['the tag and more text', (tag) => `${tag} x`, 400],
  ['an empty text', () => '', 400],
])('If-Match with %s has the same result in both APIs', async (_title, named, expected) => {
  const ifMatch = named(await tagNow());
  const { status, body } = await patch({ valid_until: day() }, ifMatch === undefined ? {} : { 'if-match': ifMatch });
  const { body: graphql } = await mutate(day(), named(await tagNow()));
  expect([status, graphql.errors?.[0].extensions.status ?? 200]).toEqual([expected, expected]);
  if (expected === 400)
    expect(body.errors).toMatchObject([{ parameter: 'If-Match', code: ifMatch ? 'format' : 'length' }]);
});

test('a malformed id in a write is the same error in both APIs as in reads', async () => {
  const onRest = (await patch({ valid_until: day() }, {}, caller, 'no-uuid')).body;
  const { body } = await caller.graphql(DOCUMENT, { id: 'no-uuid', valid_until: day() });
  const { code, status, errors } = body.errors[0].extensions;
  expect({ code, status, errors }).toEqual({ code: 'invalid_request', status: 400, errors: onRest.errors });
  expect(onRest.errors).toMatchObject([{ parameter: 'id', code: 'format' }]);
});

test('an object that is missing or of another organisation gets 404 with any version', async () => {
  const tag = await tagNow();
  const problems: Json[] = [];
  for (const headers of [{}, { 'if-match': tag }, { 'if-match': '*' }] as Record<string, string>[]) {
    const answers = [
      await patch({ valid_until: day() }, headers, stranger),
      await patch({ valid_until: day() }, headers, caller, randomUUID()),
    ];
    problems.push(...answers.map(({ body }) => ({ ...body, request_id: '' })));
  }
  expect(problems).toHaveLength(6);
  for (const problem of problems) expect(problem).toEqual({ ...problems[0], status: 404, code: 'not_found' });
});

test.each([2, 5])('of %i writers with the same version, exactly one succeeds', async (writers) => {
  const tag = await tagNow();
  let waiting = 0;
  let go: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (go = resolve));
  // all pass the check before any writes
  meet = () => ((waiting += 1) >= writers ? go() : undefined, all);
  const answers = await Promise.all(
    Array.from({ length: writers }, async (_, at) => {
      if (at % 2 === 0) return (await patch({ valid_until: day() }, { 'if-match': tag })).status;
      const { body } = await mutate(day(), tag);
      return (body.errors?.[0].extensions.status ?? 200) as number;
    }),
  );
  expect(answers.sort()).toEqual([200, ...Array.from({ length: writers - 1 }, () => 412)]);
});

test('a repeated write gets its first answer, not a 412 caused by its own change', async () => {
  const headers = { 'idempotency-key': randomUUID(), 'if-match': await tagNow() };
  const body = { valid_until: day() };
  const first = await patch(body, headers);
  const again = await patch(body, headers);
  expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(await patch(body, { ...headers, 'if-match': await tagNow() })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
});

test('a write that got 412 is not recorded, so the next attempt can use the same Idempotency-Key', async () => {
  const [old, headers] = [await tagNow(), { 'idempotency-key': randomUUID() }];
  await patch({ valid_until: day() });
  const body = { valid_until: day() };
  expect((await patch(body, { ...headers, 'if-match': old })).status).toBe(412);
  expect((await patch(body, { ...headers, 'if-match': await tagNow() })).status).toBe(200);
});

test('validation of the whole object follows the version check', async () => {
  const tag = await tagNow();
  const refused = await patch({ status: 'sent', decided_at: '2026-11-21T09:00:00Z' }, { 'if-match': tag });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/decided_at', code: 'status' }] } });
  expect((await patch({ status: 'sent', decided_at: '2026-11-21T09:00:00Z' }, { 'if-match': '"old"' })).status).toBe(
    412,
  );
  expect(await patch({ status: null })).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  expect(await tagNow()).toBe(tag);
});

test('null clears a member in both APIs, and an omitted one keeps its value', async () => {
  const valid_until = day();
  expect((await patch({ valid_until })).body).toMatchObject({ valid_until });
  expect((await patch({})).body).toMatchObject({ valid_until });
  expect((await patch({ valid_until: null })).body).toMatchObject({ valid_until: null });
  await patch({ valid_until });
  expect((await mutate(null)).body.data.change_quote).toMatchObject({ valid_until: null });
});

test('a write that changes nothing keeps the version', async () => {
  const before = await read();
  const { status, text, headers } = await patch({ valid_until: before.body.valid_until }, { 'if-match': '*' });
  expect([status, text, headers.get('etag')]).toEqual([200, before.text, before.headers.get('etag')]);
  expect((await patch({})).text).toBe(before.text);
});

test('omitting a required version gets 400', async () => {
  const { status, body } = await caller.send('DELETE', `/quotes/${String(row.id)}`);
  expect([status, body.errors]).toEqual([400, [{ parameter: 'If-Match', code: 'required', detail: 'is required' }]]);
  const given = { headers: { 'if-match': await tagNow() } };
  expect((await caller.send('DELETE', `/quotes/${String(row.id)}`, given)).status).toBe(200);
});

test('a version in the query or the body is an unknown parameter or member', async () => {
  const tag = await tagNow();
  expect(await patch({ if_match: tag })).toMatchObject({ status: 422, body: { errors: [{ code: 'unknown' }] } });
  for (const name of ['if_match', 'If-Match']) {
    const path = `/quotes/${String(row.id)}?${name}=${encodeURIComponent(tag)}`;
    const json = { body: '{}', headers: { 'content-type': 'application/json' } };
    expect(await caller.send('PATCH', path, json)).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'unknown' }] },
    });
  }
});

test.each(RESOURCES)(
  'the etag of $one in GraphQL is the ETag of its read in REST, alone and in lists',
  async ({ list, one }) => {
    const rows = await query(caller, `{ ${list}(limit: 5) { data { id etag } } }`);
    for (const { id, etag } of rows[list].data) {
      const { headers } = await caller.get(`/${list}/${String(id)}`);
      const alone = await query(caller, `{ ${one}(id: "${String(id)}") { etag } }`);
      expect([etag, alone[one].etag]).toEqual([headers.get('etag'), headers.get('etag')]);
    }
  },
);

test('the document has the header, 412 and the ETag only for writes that take a version', () => {
  const own = buildOpenApi(concatAST([loadDocument(), parse(sdl())]));
  const { patch: described, get } = own.paths['/quotes/{id}']!;
  const header = { name: 'If-Match', in: 'header', required: false, description: 'The version to change.' };
  expect(described!.parameters).toContainEqual({ ...header, schema: { type: 'string', minLength: 1 } });
  expect(described!.responses).toMatchObject({
    200: { headers: { ETag: expect.anything() } },
    412: { $ref: '#/components/responses/PreconditionFailed' },
  });
  expect(JSON.stringify(bodySchema(own, described!.requestBody!))).not.toContain('if_match');
  expect(get!.responses).not.toHaveProperty('412');
  expect(own.components.responses).toHaveProperty('PreconditionFailed');
  expect(JSON.stringify(own.components.schemas!.Problem)).toContain('precondition_failed');
  expect(JSON.stringify(document)).not.toContain('precondition_failed');
});
