import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { allScopes } from '../../src/auth/scopes';
import { raw, type RawAnswer } from './http/raw';
import { makeKey, makeOrganisation } from '../support/factories';
import { served } from '../support/gateway';

/** A request being built; each rule has a change that breaks it. */
interface Draft {
  method: string;
  path: string;
  search: string;
  headers: Record<string, string>;
  body?: string | undefined;
  readonly key: Set<'revoked' | 'spent' | 'suspended' | 'starter' | 'scopeless'>;
}

interface Rule {
  readonly code: string;
  readonly status: number;
  readonly breaks: (draft: Draft) => unknown;
}

/** The rules in the order they are checked (contract, section 2), one object per stage. */
const STAGES: readonly Readonly<Record<string, Rule>>[] = [
  { route: { status: 404, code: 'not_found', breaks: (draft) => (draft.path += '/nothing/here') } },
  { method: { status: 405, code: 'method_not_allowed', breaks: (draft) => (draft.method = 'PUT') } },
  { key: { status: 401, code: 'unauthenticated', breaks: (draft) => draft.key.add('revoked') } },
  { rate: { status: 429, code: 'rate_limited', breaks: (draft) => draft.key.add('spent') } },
  { state: { status: 403, code: 'organisation_suspended', breaks: (draft) => draft.key.add('suspended') } },
  { plan: { status: 403, code: 'plan_required', breaks: (draft) => draft.key.add('starter') } },
  { scope: { status: 403, code: 'insufficient_scope', breaks: (draft) => draft.key.add('scopeless') } },
  {
    accept: { status: 406, code: 'not_acceptable', breaks: (draft) => (draft.headers.accept = 'text/csv') },
    type: {
      status: 415,
      code: 'unsupported_media_type',
      breaks: (draft) => (draft.headers['content-type'] = 'text/csv'),
    },
    size: { status: 413, code: 'payload_too_large', breaks: (draft) => (draft.body = draft.body?.padEnd(2 ** 20 + 1)) },
  },
  {
    parameter: { status: 400, code: 'invalid_request', breaks: (draft) => (draft.search = '?nothing=1') },
    retry: {
      status: 400,
      code: 'invalid_request',
      breaks: (draft) => (draft.headers['idempotency-key'] = 'with a space'),
    },
    json: { status: 400, code: 'invalid_request', breaks: (draft) => (draft.body = draft.body?.replace('}', ',')) },
  },
  {
    body: {
      status: 422,
      code: 'validation_failed',
      breaks: (draft) => (draft.body = draft.body?.replace('text', 'txt')),
    },
  },
  { object: { status: 404, code: 'not_found', breaks: (draft) => draft.path.includes('quotes') } },
];

const write = (): Draft => ({
  method: 'POST',
  path: '/api/v1/requests',
  search: '',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: 'Hello' }),
  key: new Set(),
});
/** Reads an object that does not exist. */
const read = (): Draft => ({
  method: 'GET',
  path: `/api/v1/quotes/${randomUUID()}`,
  search: '',
  headers: {},
  key: new Set(),
});

/** Rules about writes, which reads do not have, as writes have no object; malformed JSON cannot break a 422 rule too. */
const WRITE_RULES = ['type', 'size', 'retry', 'json', 'body'];

const PAIRS = STAGES.flatMap((stage, at) =>
  STAGES.slice(at + 1).flatMap((later) =>
    Object.entries(stage).flatMap(([first, rule]) =>
      Object.entries(later).map(([second, other]) => ({ first, second, rule, other })),
    ),
  ),
).filter(
  ({ first, second }) =>
    !(second === 'object' && WRITE_RULES.includes(first)) && !(first === 'json' && second === 'body'),
);

/** By plan, and whether they are suspended. */
let organisations: Record<'integrations' | 'starter', { active: Organisation; suspended: Organisation }>;
let requests = 0;

// a limit of one: a key is over its limit after one request, and each request of these tests has a new key
const gateway = served({
  RATE_LIMIT_PER_MINUTE: '1',
  RATE_LIMIT_ORGANISATION: '1000000',
  MAX_KEYS: '1000',
  TRUST_PROXY: '1',
});
beforeAll(async () => {
  const both = async (plan: 'integrations' | 'starter') => {
    const [active, suspended] = [await makeOrganisation(gateway, { plan }), await makeOrganisation(gateway, { plan })];
    await gateway.control.organisations.suspend(suspended.id);
    return { active, suspended };
  };
  organisations = { integrations: await both('integrations'), starter: await both('starter') };
});

async function send({ method, path, search, headers, body, key: faults }: Draft): Promise<RawAnswer> {
  const ofPlan = organisations[faults.has('starter') ? 'starter' : 'integrations'];
  const made = await makeKey(gateway, ofPlan[faults.has('suspended') ? 'suspended' : 'active'], {
    scopes: faults.has('scopeless') ? [] : allScopes(),
  });
  const authorization = `Bearer ${made.key}`;
  if (faults.has('spent')) await raw(gateway.url, '/api/v1/me', { headers: { authorization } });
  if (faults.has('revoked')) await gateway.control.apiKeys.revoke(made.id);
  // a new address each time, so that failed authentications do not add up
  requests += 1;
  const address = `2001:db8:${requests.toString(16)}::1`;
  return raw(gateway.url, path + search, {
    method,
    headers: { ...headers, authorization, 'x-forwarded-for': address },
    ...(body === undefined ? {} : { body }),
  });
}

describe('a request that breaks two rules gets the error of the first', () => {
  const draftFor = (rule: string): Draft => (rule === 'object' ? read() : write());

  test.each(Object.entries(Object.assign({}, ...STAGES) as (typeof STAGES)[number]))(
    'each is broken alone: %s',
    async (name, rule) => {
      const draft = draftFor(name);
      rule.breaks(draft);
      expect(shown(await send(draft))).toEqual({ status: rule.status, code: rule.code });
    },
  );

  test.each(PAIRS)('$first before $second', async ({ second, rule, other }) => {
    const both = draftFor(second);
    other.breaks(both);
    rule.breaks(both);
    expect(shown(await send(both))).toEqual({ status: rule.status, code: rule.code });
  });

  function shown({ status, text }: RawAnswer): { status: number; code: unknown } {
    return { status, code: (JSON.parse(text) as { code: unknown }).code };
  }
});

/** Rules for GraphQL requests as a whole, in the order they are checked; rules for bodies come last. */
const GRAPHQL_KEYS = [
  { name: 'key', status: 401, code: 'unauthenticated', fault: 'revoked' },
  { name: 'rate', status: 429, code: 'rate_limited', fault: 'spent' },
  { name: 'state', status: 403, code: 'organisation_suspended', fault: 'suspended' },
  { name: 'plan', status: 403, code: 'plan_required', fault: 'starter' },
] as const;

const GRAPHQL_BODIES: Readonly<Record<string, Partial<Draft>>> = {
  'malformed JSON': { body: '{' },
  'another type': { headers: { 'content-type': 'text/plain' } },
  'a large body': { body: '{}'.padEnd(2 ** 20 + 1) },
  'a malformed query': { body: JSON.stringify({ query: '{' }) },
  'a missing scope': { body: JSON.stringify({ query: '{ products { has_more } }' }), key: new Set(['scopeless']) },
};

describe('a GraphQL request is checked for', () => {
  test.each(GRAPHQL_KEYS.flatMap((rule) => Object.keys(GRAPHQL_BODIES).map((body) => ({ ...rule, body }))))(
    '$name before $body',
    async ({ status, code, fault, body }) => {
      const { key = new Set(), ...change } = GRAPHQL_BODIES[body]!;
      const answer = await send({ ...graphqlDraft(), ...change, key: new Set([...key, fault]) });
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text).errors[0].extensions).toMatchObject({ code, status });
    },
  );

  test.each(GRAPHQL_KEYS.flatMap((first, at) => GRAPHQL_KEYS.slice(at + 1).map((second) => ({ first, second }))))(
    '$first.name before $second.name',
    async ({ first, second }) => {
      const { status, text } = await send({ ...graphqlDraft(), key: new Set([first.fault, second.fault]) });
      expect(status).toBe(first.status);
      expect(JSON.parse(text).errors[0].extensions.code).toBe(first.code);
    },
  );

  function graphqlDraft(): Draft {
    return { ...write(), path: '/graphql', body: JSON.stringify({ query: '{ me { key { id } } }' }) };
  }
});
