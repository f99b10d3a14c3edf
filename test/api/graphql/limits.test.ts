import { IDS, makeStocked } from '../../support/fixtures/contract';
import { type Answer, client } from '../../support/client';
import { callerOf, makeKey } from '../../support/factories';
import { late, served } from '../../support/gateway';

/** CPU limit for hostile documents, in milliseconds: far above what they take, far below what they would take without limits. */
const QUICK = 2000;

const gateway = served();
const organisation = late(() => makeStocked(gateway));
const caller = late(() => callerOf(gateway, organisation));

/** CPU time of this process, which includes the gateway, in milliseconds; unlike wall time, other load does not affect it. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function times(count: number, make: (at: string) => string): string {
  return Array.from({ length: count }, (_, at) => make(String(at))).join(' ');
}

/** The cycle of a customer's quotes and a quote's customer: each field, with a leaf to select in it. */
const RING = [
  { field: 'customer', leaf: 'name' },
  { field: 'quotes', leaf: 'has_more' },
  { field: 'data', leaf: 'number' },
] as const;

/** `depth` nested fields, starting with `customer`. */
function nest(depth: number, at = 0): string {
  const { field, leaf } = RING[at % 3]!;
  return `${field} { ${depth === 2 ? leaf : nest(depth - 1, at + 1)} }`;
}

function nestFromRoot(depth: number): string {
  return nest(depth).replace('customer', `customer(id: "${IDS.customer}")`);
}

interface Limit {
  readonly title: string;
  readonly limit: number;
  readonly document: (size: number) => string;
}

/** Section 6 of the contract: each limit, with a function that makes a document of any size. */
const LIMITS: readonly Limit[] = [
  {
    title: 'depth through fragments',
    limit: 10,
    document: (depth) =>
      `{ customer(id: "${IDS.customer}") { ...Outer } }
       fragment Outer on Customer { quotes { data { ...Inner } } }
       fragment Inner on Quote { ${nest(depth - 3)} }`,
  },
  {
    title: 'depth through inline fragments',
    limit: 10,
    document: (depth) => `{ ... on Query { ... { ${nestFromRoot(depth)} } } }`,
  },
  {
    title: 'aliases through fragments',
    limit: 30,
    document: (count) =>
      `{ me { key { ...Ten ...Ten ${times(count - 20, (at) => `b${at}: id`)} } } }
       fragment Ten on MeKey { ${times(10, (at) => `a${at}: id`)} }`,
  },
  {
    title: 'aliases in introspection',
    limit: 5,
    document: (count) =>
      `{ a: __typename __schema { ...F } } fragment F on __Schema { ${times(count, (at) => `a${at}: types { name }`)} }`,
  },
  {
    title: 'fragments in each other',
    limit: 10,
    // through a field too
    document: (count) =>
      `{ me { ...F0 } } ${times(count - 2, (at) => `fragment F${at} on Me { ...F${String(Number(at) + 1)} }`)}
       fragment F${String(count - 2)} on Me { key { ...Last } } fragment Last on MeKey { id }`,
  },
  {
    title: 'root fields through fragments',
    limit: 20,
    document: (count) =>
      `{ ...Two ...Two ${times(count - 4, () => '__typename')} }
       fragment Two on Query { __typename me { key { id } } }`,
  },
  {
    title: 'fields with fragments expanded',
    limit: 5000,
    // the two outer fields, 49 spreads of 100 fields, and the rest
    document: (count) =>
      `{ me { key { ${times(49, () => '...F')} ${times(count - 4902, () => 'id')} } } }
       fragment F on MeKey { ${times(100, () => 'name')} }`,
  },
  {
    title: 'fragment spreads',
    limit: 10_000,
    // 99 spreads of a fragment with 100 inline ones, and the rest
    document: (count) =>
      `{ me { key { ${times(99, () => '...F')} ${times(count - 9999, () => '... { id }')} } } }
       fragment F on MeKey { ${'... { '.repeat(100)} id ${'}'.repeat(100)} }`,
  },
  {
    title: 'lines',
    limit: 2000,
    document: (count) => `${'\n'.repeat(count - 1)}{ __typename }`,
  },
  {
    title: 'tokens',
    limit: 2000,
    // the outer names and braces are eight tokens, an inline fragment with a field is four
    document: (count) =>
      `{ me { key { ${times(Math.floor((count - 8) / 4), () => '... { id }')} ${times((count - 8) % 4, () => 'id')} } } }`,
  },
];

test('a field selected too often in one place is rejected with a message that says so', async () => {
  const answer = await caller.graphql(`{ me { key { ${times(1500, () => 'id')} } } }`);
  expectRefused(answer);
  expect(answer.body.errors[0].message).toContain('Select each field only once');
});

function expectRefused({ status, body }: Answer): void {
  expect(status).toBe(400);
  expect(body.data).toBeUndefined();
  expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
}

describe('limits of operations:', () => {
  test.each(LIMITS)('$title: $limit is accepted', async ({ limit, document }) => {
    const { status, body } = await caller.graphql(document(limit));
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
  });

  test.each(LIMITS)('$title: more than $limit is rejected', async ({ limit, document }) => {
    expectRefused(await caller.graphql(document(limit + 1)));
  });

  test("apply to the operation that runs, not to the document's others", async () => {
    const operation = (name: string, from: number): string =>
      `query ${name} { me { key { ${times(20, (at) => `a${String(from + Number(at))}: id`)} } } }`;
    const { key } = await makeKey(gateway, organisation);
    const answer = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: `${operation('A', 0)} ${operation('B', 20)}`, operationName: 'B' }),
    });
    expect(answer.status).toBe(200);
  });
});

describe('a document that is new', () => {
  /** The points left after each of a few requests. */
  async function left(documents: readonly string[]): Promise<number[]> {
    const { key } = await makeKey(gateway, organisation);
    const one = client(gateway, key);
    const points: number[] = [];
    for (const document of documents)
      points.push(Number((await one.graphql(document)).headers.get('x-ratelimit-remaining')));
    return points;
  }
  const spent = (points: readonly number[]): number[] => points.slice(1).map((now, at) => points[at]! - now);
  // seven tokens, and four for each inline fragment
  const sized = (name: string, count: number, leaf = 'id'): string =>
    `{ ${name}: me { key { ${times(count, () => `... { ${leaf} }`)} } } }`;

  test('costs a point more for each 200 tokens begun after the first 200, once', async () => {
    const long = sized('long', 100);
    expect(spent(await left(['{ __typename }', sized('short', 40), long, long, long]))).toEqual([1, 3, 1, 1]);
    const [exact, over] = ['id '.repeat(3), 'id '.repeat(4)].map((ids) => sized('x', 47).replace('id', ids));
    expect(spent(await left(['{ __typename }', exact!, over!]))).toEqual([1, 2]);
  });

  test('and is rejected costs that each time', async () => {
    const wrong = sized('wrong', 100, 'missing');
    expect(spent(await left(['{ __typename }', wrong, wrong]))).toEqual([3, 3]);
  });

  test('by GET costs the same', async () => {
    const { key } = await makeKey(gateway, organisation);
    const get = async (): Promise<number> => {
      const url = `${gateway.url}/graphql?query=${encodeURIComponent(sized('get', 100))}`;
      const headers = { authorization: `Bearer ${key}`, 'apollo-require-preflight': 'yes' };
      const answer = await fetch(url, { headers });
      expect(answer.status).toBe(200);
      return Number(answer.headers.get('x-ratelimit-remaining'));
    };
    const [before, after] = [await get(), await get()];
    expect(before - after).toBe(1);
    expect(1_000_000 - before).toBe(3);
  });
});

describe('a query text', () => {
  const padded = (bytes: number): string => '{ __typename }#'.padEnd(bytes, 'é').slice(0, bytes);
  const sized = (bytes: number): string => {
    // é is two bytes
    const text = padded(15 + Math.floor((bytes - 15) / 2));
    return text + 'x'.repeat(bytes - Buffer.byteLength(text));
  };

  test('of 100 KiB is accepted', async () => {
    const text = sized(100 * 1024);
    expect(Buffer.byteLength(text)).toBe(102_400);
    expect((await caller.graphql(text)).status).toBe(200);
  });

  test('of one byte more gets 413, even with fewer characters', async () => {
    const { status, body } = await caller.graphql(sized(100 * 1024 + 1));
    expect(status).toBe(413);
    expect(body.errors[0].extensions).toMatchObject({ code: 'payload_too_large', status: 413 });
  });
});

/** Fragments that each spread the next one twice, 60 levels deep. */
function doubled(type: string): string {
  return times(60, (at) => {
    const next = `...F${String(Number(at) + 1)}`;
    return `fragment F${at} on ${type} { ${next} ${next} }`;
  });
}

function doubling(type: string, last: string): Record<string, string> {
  const document = `{ me { ...F0 } } ${doubled(type)} fragment F60 on ${type} { ${last} }`;
  return { [`doubling fragments that end in ${last}`]: document };
}

/** Documents that are small but expensive to validate. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a fragment that spreads itself': '{ me { ...A } } fragment A on Me { key { id } ...A }',
  'fragments that spread each other': '{ me { ...A } } fragment A on Me { ...B } fragment B on Me { ...A }',
  'a fragment that spreads itself through a relation':
    '{ quotes { data { ...A } } } fragment A on Quote { customer { quotes { data { ...A } } } }',
  'fragments that double at each of 60 levels': `{ me { ...F0 } } ${times(
    60,
    (at) => `fragment F${at} on Me { a: key { id } ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
  )} fragment F60 on Me { key { id } }`,
  ...doubling('Me', 'key { id }'),
  ...doubling('Me', '...Missing'),
  'doubling fragments in introspection': `{ __schema { ...F0 } } ${doubled('__Schema')} fragment F60 on __Schema { types { name } }`,
  'doubling fragments that are not used': `{ __typename } ${doubled('Me')} fragment F60 on Me { key { id } }`,
  'fragments that spread all others': `{ me { ...F0 } } ${times(
    30,
    (at) => `fragment F${at} on Me { ${times(30, (other) => (other === at ? 'key { id }' : `...F${other}`))} }`,
  )}`,
  'errors after many lines': `${'\n'.repeat(90_000)}{ me { ${times(100, (at) => `x${at}`)} } }`,
  'root fields that double at each of 60 levels': `{ ...F0 } ${times(
    60,
    (at) => `fragment F${at} on Query { ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
  )} fragment F60 on Query { me { key { id } } }`,
  'one field with many aliases in many fragments': `{ me { ${times(60, (at) => `...F${at}`)} } } ${times(
    60,
    (at) => `fragment F${at} on Me { ${times(8, (alias) => `a${alias}: key { id }`)} }`,
  )}`,
  'unclosed nested selections': `{ ${'me { '.repeat(900)}`,
  'unclosed nested lists': `{ products(q: ${'['.repeat(1900)}`,
};

describe('a hostile document', () => {
  test.each(Object.entries(HOSTILE))('with %s gets 400 quickly', async (_title, document) => {
    const start = cpuTime();
    expectRefused(await caller.graphql(document));
    expect(cpuTime() - start).toBeLessThan(QUICK);
  });

  test('within the limits is answered quickly, even when compiled on the third run', async () => {
    const document = `{ me { ...F0 } } ${times(
      9,
      (at) => `fragment F${at} on Me { ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
    )} fragment F9 on Me { rate_limit { limit } }`;
    const start = cpuTime();
    for (let time = 0; time < 4; time += 1) {
      const { body } = await caller.graphql(document);
      expect(body).toEqual({ data: { me: { rate_limit: { limit: 1_000_000 } } } });
    }
    expect(cpuTime() - start).toBeLessThan(QUICK);
  });
});
