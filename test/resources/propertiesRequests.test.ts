import fc from 'fast-check';
import { raw } from '../http/raw';
import { makeKey, makeOrganisation } from '../support/factories';
import { served } from '../support/gateway';
import { documentOf, operations } from '../support/operations';

fc.configureGlobal({ seed: 20261121 });

const RUNS = 100;

let headers: Record<string, string>;

const gateway = served();
beforeAll(async () => {
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
});

/** Sends a request unchanged and expects an answer without a server error. */
async function expectAnswered(method: string, path: string, body?: string): Promise<void> {
  const answer = await raw(gateway.url, path, { method, headers, ...(body === undefined ? {} : { body }) });
  expect(answer.status).toBeGreaterThanOrEqual(200);
  expect(answer.status).toBeLessThan(500);
  expect(answer.text).not.toMatch(/"status":5\d\d|"internal"/);
}

/** Names that some operation knows, so that generated values get past the first checks. */
const NAMES = [
  ...['products', 'customers', 'text', 'subject', 'contact', 'customer_id', 'atomic', 'dry_run', 'sku', 'external_ref'],
  ...['name', 'email', 'contacts', 'billing_address', 'unit_price_minor', 'q', 'status', 'sort', 'limit', 'cursor'],
  ...['category', 'active', 'updated_since', 'created_since', 'placed_since', 'id', '__proto__', 'constructor', ''],
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', maxLength: 10 }));

/** Arbitrary JSON with these names. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.double(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('json')), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
    fc.jsonValue(),
  ),
}));

describe('any JSON as the body', () => {
  test('of /graphql causes no server error', async () => {
    const request = fc.oneof(
      json,
      fc.record({ query: json, variables: json, operationName: json, extensions: json }, { requiredKeys: [] }),
    );
    await fc.assert(
      fc.asyncProperty(request, (value) => expectAnswered('POST', '/graphql', JSON.stringify(value))),
      { numRuns: RUNS },
    );
  });

  test.each(operations)('as the variables of $name causes no server error', async (operation) => {
    const query = documentOf(operation);
    const named = [...query.matchAll(/\$(\w+):/g)].map((match) => match[1]!);
    const variables = fc.record(Object.fromEntries(named.map((variable) => [variable, json])), { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(variables, (given) =>
        expectAnswered('POST', '/graphql', JSON.stringify({ query, variables: given })),
      ),
      { numRuns: RUNS / 4 },
    );
  });
});

describe('any query string', () => {
  /** Characters allowed unencoded in a URL, and pairs of known or random names and values. */
  const plain = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  });
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('1', '-created_at', 'true', '2026-01-01T00:00:00Z'),
  );
  const pairs = fc
    .array(fc.tuple(name, value), { maxLength: 8 })
    .map((all) => all.map(([key, given]) => `${encodeURIComponent(key)}=${encodeURIComponent(given)}`).join('&'));

  test('of /graphql causes no server error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          pairs,
          plain,
          plain.map((text) => `query=${text}`),
        ),
        (search) => expectAnswered('GET', `/graphql?${search}`),
      ),
      { numRuns: RUNS },
    );
  });
});
