import { bodySchema } from '../../../src/openapi';
import { IF_MATCH_PATTERN, matchesTag, versionRequired } from '../../../src/schema/entityTags';
import type { Answer, Json } from '../../support/client';
import { query } from '../../support/faces';
import { callerOf, makeNorthwind } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { blocksIn } from '../../support/mcpFace';
import { document } from '../../support/openapi';
import { RESOURCES } from '../../support/resources';

/* Entity tags, and the conditions of reads and writes that name them: If-Match and If-None-Match. */

const gateway = served();
const organisation = late(() => makeNorthwind(gateway, 5));
const caller = late(() => callerOf(gateway, organisation));
const stranger = late(() => callerOf(gateway));

let path: string;
let id: string;
beforeEach(async () => {
  id = String((await caller.get('/products', { limit: 1 })).body.data[0].id);
  path = `/products/${id}`;
});

const tagNow = async (): Promise<string> => (await caller.get(path)).headers.get('etag')!;

let texts = 0;
/** A description that no product has. */
const text = (): string => `Description ${String((texts += 1))}`;

const MUTATION = `mutation($id: ID!, $if_match: String, $description: String) {
  update_product(id: $id, if_match: $if_match, description: $description) { etag } }`;

const headersOf = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

/** A write with a version in each API: resolves with its status and its first fault. */
const WRITES: Record<string, (ifMatch: string | undefined) => Promise<[status: number, fault?: Json]>> = {
  REST: async (ifMatch) => {
    const { status, body } = await caller.patch(path, { description: text() }, headersOf('if-match', ifMatch));
    return [status, body.errors?.[0]];
  },
  GraphQL: async (ifMatch) => {
    const { body } = await caller.graphql(MUTATION, { id, description: text(), if_match: ifMatch });
    const { status = 200, errors } = body.errors?.[0].extensions ?? {};
    return [status, errors?.[0]];
  },
  MCP: async (ifMatch) => {
    const args = { id, description: text(), ...headersOf('if_match', ifMatch) };
    const answer = await caller.mcp('tools/call', { name: 'update_product', arguments: args });
    const said = answer.body.result.isError ? JSON.parse(blocksIn(answer)[0]!) : { status: 200 };
    return [said.status, said.errors?.[0]];
  },
};

/** What is between a gateway and its callers, and how that hands a tag on if it compresses (from its documentation or source). */
const HANDED_ON: Record<string, (opaque: string) => string> = {
  'nginx, HAProxy, Cloudflare, Envoy and Varnish': (tag) => `W/"${tag}"`,
  'Apache mod_deflate, Caddy and lighttpd': (tag) => `"${tag}-gzip"`,
  'Apache mod_brotli and Caddy': (tag) => `"${tag}-br"`,
  'Caddy with zstd': (tag) => `"${tag}-zstd"`,
  'Apache, inflating': (tag) => `"${tag}-gunzip"`,
  Jetty: (tag) => `"${tag}--gzip"`,
  'Jetty with two handlers': (tag) => `"${tag}--gzip--zstd"`,
  'a semicolon': (tag) => `"${tag};br"`,
  'Apache behind nginx': (tag) => `W/"${tag}-gzip"`,
};

test.each(Object.entries(HANDED_ON))('a tag as %s hands it on still names its version', async (_title, handOn) => {
  const handedOn = handOn((await tagNow()).slice(1, -1));
  const statuses = async (): Promise<unknown[]> => {
    const named = ['if-none-match', 'if-match'].map((name) => caller.get(path, {}, { [name]: handedOn }));
    return (await Promise.all(named)).map(({ status }) => status);
  };
  expect(await statuses()).toEqual([304, 200]);
  const [first, ...others] = Object.values(WRITES);
  expect(await first!(handedOn)).toEqual([200]);
  expect(await statuses()).toEqual([200, 412]);
  for (const write of Object.values(WRITES)) expect(await write(handedOn)).toMatchObject([412]);
  for (const write of others) expect(await write(handOn((await tagNow()).slice(1, -1)))).toEqual([200]);
});

test('a tag that itself ends like one with a coding is compared whole', () => {
  const own = `"${'a'.repeat(24)}-br"`;
  expect(matchesTag(own, own)).toBe(true);
  expect(matchesTag(`"${own.slice(1, -1)}-br"`, own)).toBe(true);
  expect(matchesTag(`"${'a'.repeat(24)}"`, own)).toBe(false);
  expect(() => {
    versionRequired({ ifMatch: own })(() => `"${'a'.repeat(24)}"`);
  }).toThrow('changed');
});

describe.each(Object.keys(WRITES))('If-Match of a write in %s', (api) => {
  test.each<[string, (tag: string) => string | undefined, number]>([
    ['no tag', () => undefined, 200],
    ['*', () => '*', 200],
    ['* between tabs', () => '\t*\t', 200],
    ['the tag among others', (tag) => `"a,b", ${tag} ,W/"c"`, 200],
    ['other tags', () => '"other", "another"', 412],
    ['the tag inside another', (tag) => `"x${tag.slice(1)}`, 412],
    ['the tag with a suffix that is no coding', (tag) => `${tag.slice(0, -1)}-old"`, 412],
    ['part of the tag', (tag) => `${tag.slice(0, -2)}"`, 412],
    ['the tag without quotes', (tag) => tag.slice(1, -1), 400],
    ['the tag and more text', (tag) => `${tag} x`, 400],
    ['a tag with a space', () => '"a b"', 400],
    ['an empty string', () => '', 400],
  ])('with %s', async (_title, headerFor, expected) => {
    const ifMatch = headerFor(await tagNow());
    const [status, fault] = await WRITES[api]!(ifMatch);
    expect(status).toBe(expected);
    if (expected === 400) expect(fault).toMatchObject({ parameter: 'If-Match', code: 'format' });
    if (ifMatch !== undefined && expected !== 400) expect(ifMatch.trim()).toMatch(new RegExp(IF_MATCH_PATTERN, 'u'));
    if (expected === 400) expect(ifMatch).not.toMatch(new RegExp(IF_MATCH_PATTERN, 'u'));
  });
});

test('a no-break space is not white space to If-Match, nor in its pattern', async () => {
  const { body } = await caller.graphql(MUTATION, { id, if_match: '\u00a0*' });
  expect(body.errors[0].extensions.errors).toMatchObject([{ parameter: 'If-Match', code: 'format' }]);
  expect(IF_MATCH_PATTERN).not.toContain(String.raw`\s`);
});

test.each<[title: string, status: number, headerFor: (tag: string) => string]>([
  ['its tag', 304, (tag) => tag],
  ['its tag among others', 304, (tag) => `"a,b", W/"c" ,${tag}`],
  ['*', 304, () => '*'],
  ['other tags', 200, () => '"other", W/"another"'],
  ['its tag and * inside another', 200, (tag) => `"x,*,${tag.slice(1, -1)},"`],
  ['its tag without quotes', 200, (tag) => tag.slice(1, -1)],
])('a read with %s in If-None-Match gets %i', async (_title, expected, headerFor) => {
  const before = await caller.get(path);
  const tag = before.headers.get('etag')!;
  const headers = { 'if-none-match': headerFor(tag) };
  for (const method of ['GET', 'HEAD']) {
    const answer = await caller.send(method, path, { headers });
    expect([method, answer.status, answer.headers.get('etag')]).toEqual([method, expected, tag]);
    expect(answer.text).toBe(expected === 304 || method === 'HEAD' ? '' : before.text);
  }
  expect((await stranger.send('GET', path, { headers })).status).toBe(404);
});

test.each<[title: string, status: number, headerFor: (tag: string) => string]>([
  ['its tag', 200, (tag) => tag],
  ['*', 200, () => '*'],
  ['another tag', 412, () => '"another"'],
  ['its tag without quotes', 400, (tag) => tag.slice(1, -1)],
  ['nothing', 400, () => ''],
])('a read with %s in If-Match gets %i', async (_title, expected, headerFor) => {
  const headers = { 'if-match': headerFor(await tagNow()) };
  for (const method of ['GET', 'HEAD']) expect((await caller.send(method, path, { headers })).status).toBe(expected);
  const theirs = await stranger.send('GET', path, { headers });
  expect(theirs.status).toBe(expected === 400 ? 400 : 404);
});

test('If-Match is judged before If-None-Match', async () => {
  const tag = await tagNow();
  const both = (ifMatch: string): Promise<Answer> =>
    caller.get(path, {}, { 'if-match': ifMatch, 'if-none-match': tag });
  expect([(await both('"another"')).status, (await both(tag)).status]).toEqual([412, 304]);
});

test('a read with include has no ETag, so no If-Match but * matches it', async () => {
  const [{ id: quote }] = (await caller.get('/quotes', { limit: 1 })).body.data as [Json];
  const alone = await caller.get(`/quotes/${String(quote)}`);
  const included = (ifMatch: string): Promise<Answer> =>
    caller.get(`/quotes/${String(quote)}`, { include: 'customer' }, { 'if-match': ifMatch });
  expect([(await included(alone.headers.get('etag')!)).status, (await included('*')).status]).toEqual([412, 200]);
});

test.each<[title: string, status: number, headerFor: (tag: string) => string]>([
  ['*', 412, () => '*'],
  ['its tag', 412, (tag) => tag],
  ['its tag made weak', 412, (tag) => `W/${tag}`],
  ['another tag', 200, () => '"another"'],
  ['what is no tag', 200, () => 'another'],
])('a write with %s in If-None-Match gets %i', async (_title, expected, headerFor) => {
  const before = await caller.get(path);
  const headers = { 'if-none-match': headerFor(before.headers.get('etag')!) };
  const { status, body } = await caller.patch(path, { description: text() }, headers);
  expect([status, body.code]).toEqual([expected, expected === 412 ? 'precondition_failed' : undefined]);
  expect((await caller.get(path)).text === before.text).toBe(expected === 412);
  expect((await stranger.patch(path, { description: text() }, headers)).status).toBe(404);
  // a header of a request with any number of operations
  const { body: graphql } = await caller.graphql(MUTATION, { id, description: text() }, headers);
  expect(graphql.errors).toBeUndefined();
});

test.each(RESOURCES.filter(({ list }) => `/${list}/{id}` in document.paths && document.paths[`/${list}/{id}`]!.patch))(
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

test('the OpenAPI document has the conditions of reads and writes, each with an example, and 412', () => {
  const { get, patch } = document.paths['/products/{id}']!;
  for (const operation of [get!, patch!]) {
    for (const name of ['If-Match', 'If-None-Match'])
      expect(operation.parameters).toContainEqual(
        expect.objectContaining({ name, in: 'header', required: false, example: expect.anything() }),
      );
    expect(operation.responses).toMatchObject({
      200: { headers: { ETag: expect.anything() } },
      412: { $ref: '#/components/responses/PreconditionFailed' },
    });
  }
  expect(JSON.stringify(bodySchema(document, patch!.requestBody!))).not.toContain('if_match');
});
