import { getIntrospectionQuery } from 'graphql';
import { IDS, makeStocked } from '../contract/scene';
import { type Answer, type Client, client } from '../support/client';
import { makeKey } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/** Milliseconds of CPU that hostile documents may take: far above what they do, far below what they would without limits. */
const QUICK = 2000;

let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  caller = client(gateway, (await makeKey(gateway, await makeStocked(gateway))).key);
});
afterAll(() => gateway.stop());

/** CPU time of this process, which the gateway runs in, in milliseconds: it does not grow while others use the machine. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function times(count: number, make: (at: string) => string): string {
  return Array.from({ length: count }, (_, at) => make(String(at))).join(' ');
}

/** A customer's quotes, whose customer has quotes: each field, and what can be asked of it. */
const RING = [
  { field: 'customer', leaf: 'name' },
  { field: 'quotes', leaf: 'has_more' },
  { field: 'data', leaf: 'number' },
] as const;

/** As many fields below each other, beginning with `customer`. */
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

/** Contract, section 6: each limit with a document of any size. */
const LIMITS: readonly Limit[] = [
  { title: 'a depth', limit: 10, document: (depth) => `{ ${nestFromRoot(depth)} }` },
  {
    title: 'a depth through fragments',
    limit: 10,
    document: (depth) =>
      `{ customer(id: "${IDS.customer}") { ...Outer } }
       fragment Outer on Customer { quotes { data { ...Inner } } }
       fragment Inner on Quote { ${nest(depth - 3)} }`,
  },
  {
    title: 'a depth through inline fragments',
    limit: 10,
    document: (depth) => `{ ... on Query { ... { ${nestFromRoot(depth)} } } }`,
  },
  { title: 'aliases', limit: 30, document: (count) => `{ me { key { ${times(count, (at) => `a${at}: id`)} } } }` },
  {
    title: 'aliases through fragments',
    limit: 30,
    document: (count) =>
      `{ me { key { ...Ten ...Ten ${times(count - 20, (at) => `b${at}: id`)} } } }
       fragment Ten on MeKey { ${times(10, (at) => `a${at}: id`)} }`,
  },
  { title: 'root fields', limit: 20, document: (count) => `{ ${times(count, () => 'me { key { id } }')} }` },
  {
    title: 'root fields through fragments',
    limit: 20,
    document: (count) =>
      `{ ...Two ...Two ${times(count - 4, () => '__typename')} }
       fragment Two on Query { __typename me { key { id } } }`,
  },
  {
    title: 'fields where fragments are spread',
    limit: 5000,
    // the two around, a fragment of 100 fifty times less one, and the rest
    document: (count) =>
      `{ me { key { ${times(49, () => '...F')} ${times(count - 4902, () => 'id')} } } }
       fragment F on MeKey { ${times(100, () => 'name')} }`,
  },
  {
    title: 'lines',
    limit: 2000,
    document: (count) => `${'\n'.repeat(count - 1)}{ __typename }`,
  },
  {
    title: 'tokens',
    limit: 2000,
    // the names and braces around are eight tokens, an inline fragment with a field is four
    document: (count) =>
      `{ me { key { ${times(Math.floor((count - 8) / 4), () => '... { id }')} ${times((count - 8) % 4, () => 'id')} } } }`,
  },
];

test('a field too often at one place is refused by a sentence that says so', async () => {
  const answer = await caller.graphql(`{ me { key { ${times(1500, () => 'id')} } } }`);
  expectRefused(answer);
  expect(answer.body.errors[0].message).toContain('Select each field only once');
});

function expectRefused({ status, body }: Answer): void {
  expect(status).toBe(400);
  expect(body.data).toBeUndefined();
  expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
}

describe('an operation may have', () => {
  test.each(LIMITS)('$title of $limit', async ({ limit, document }) => {
    const { status, body } = await caller.graphql(document(limit));
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
  });

  test.each(LIMITS)('$title of no more than $limit', async ({ limit, document }) => {
    expectRefused(await caller.graphql(document(limit + 1)));
  });

  test('any depth of introspection', async () => {
    const { body } = await caller.graphql(getIntrospectionQuery());
    expect(body.errors).toBeUndefined();
    expect(body.data.__schema.queryType.name).toBe('Query');
  });

  test('limits of its own, though the document holds others', async () => {
    const operation = (name: string, from: number): string =>
      `query ${name} { me { key { ${times(20, (at) => `a${String(from + Number(at))}: id`)} } } }`;
    const answer = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: await authorization() },
      body: JSON.stringify({ query: `${operation('A', 0)} ${operation('B', 20)}`, operationName: 'B' }),
    });
    expect(answer.status).toBe(200);
  });

  async function authorization(): Promise<string> {
    return `Bearer ${(await makeKey(gateway, await makeStocked(gateway))).key}`;
  }
});

describe('a text', () => {
  const padded = (bytes: number): string => '{ __typename }#'.padEnd(bytes, 'é').slice(0, bytes);
  const sized = (bytes: number): string => {
    // é is two bytes
    const text = padded(15 + Math.floor((bytes - 15) / 2));
    return text + 'x'.repeat(bytes - Buffer.byteLength(text));
  };

  test('of 100 KiB is read', async () => {
    const text = sized(100 * 1024);
    expect(Buffer.byteLength(text)).toBe(102_400);
    expect((await caller.graphql(text)).status).toBe(200);
  });

  test('of one byte more is 413, however few its characters', async () => {
    const { status, body } = await caller.graphql(sized(100 * 1024 + 1));
    expect(status).toBe(413);
    expect(body.errors[0].extensions).toMatchObject({ code: 'payload_too_large', status: 413 });
  });
});

/** Fragments that each spread the next twice, 60 steps deep. */
function doubled(type: string): string {
  return times(60, (at) => {
    const next = `...F${String(Number(at) + 1)}`;
    return `fragment F${at} on ${type} { ${next} ${next} }`;
  });
}

function doubling(type: string, last: string): Record<string, string> {
  const document = `{ me { ...F0 } } ${doubled(type)} fragment F60 on ${type} { ${last} }`;
  return { [`fragments that double and end in ${last}`]: document };
}

/** Documents that are small, and large when they are read. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a fragment that holds itself': '{ me { ...A } } fragment A on Me { key { id } ...A }',
  'fragments that hold each other': '{ me { ...A } } fragment A on Me { ...B } fragment B on Me { ...A }',
  'a fragment that holds itself through a relation':
    '{ quotes { data { ...A } } } fragment A on Quote { customer { quotes { data { ...A } } } }',
  'fragments that double at each of 60 steps': `{ me { ...F0 } } ${times(
    60,
    (at) => `fragment F${at} on Me { a: key { id } ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
  )} fragment F60 on Me { key { id } }`,
  ...doubling('Me', 'key { id }'),
  ...doubling('Me', '...Missing'),
  'fragments that double in what is asked of the schema': `{ __schema { ...F0 } } ${doubled('__Schema')} fragment F60 on __Schema { types { name } }`,
  'fragments that double beside what is asked for': `{ __typename } ${doubled('Me')} fragment F60 on Me { key { id } }`,
  'fragments that hold all others': `{ me { ...F0 } } ${times(
    30,
    (at) => `fragment F${at} on Me { ${times(30, (other) => (other === at ? 'key { id }' : `...F${other}`))} }`,
  )}`,
  'faults at the end of many lines': `${'\n'.repeat(90_000)}{ me { ${times(100, (at) => `x${at}`)} } }`,
  'root fields that double at each of 60 steps': `{ ...F0 } ${times(
    60,
    (at) => `fragment F${at} on Query { ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
  )} fragment F60 on Query { me { key { id } } }`,
  'one field under many names in many fragments': `{ me { ${times(60, (at) => `...F${at}`)} } } ${times(
    60,
    (at) => `fragment F${at} on Me { ${times(8, (alias) => `a${alias}: key { id }`)} }`,
  )}`,
  'selections that open and open': `{ ${'me { '.repeat(900)}`,
  'lists that open and open': `{ products(q: ${'['.repeat(1900)}`,
};

describe('a hostile document', () => {
  test.each(Object.entries(HOSTILE))('of %s is 400 at once', async (_title, document) => {
    const start = cpuTime();
    expectRefused(await caller.graphql(document));
    expect(cpuTime() - start).toBeLessThan(QUICK);
  });

  test('within the limits is answered at once, the third time too, when others are compiled', async () => {
    const document = `{ me { ...F0 } } ${times(
      12,
      (at) => `fragment F${at} on Me { ...F${String(Number(at) + 1)} ...F${String(Number(at) + 1)} }`,
    )} fragment F12 on Me { rate_limit { limit } }`.replace('...F12 ...F12', '...F12');
    const start = cpuTime();
    for (let time = 0; time < 4; time += 1) {
      const { body } = await caller.graphql(document);
      expect(body).toEqual({ data: { me: { rate_limit: { limit: 1_000_000 } } } });
    }
    expect(cpuTime() - start).toBeLessThan(QUICK);
  });

  test('of a key without scopes is refused as any other', async () => {
    const { key } = await makeKey(gateway, await makeStocked(gateway), { scopes: [] });
    expectRefused(
      await client(gateway, key).graphql(`{ me { ...F0 } } ${doubled('Me')} fragment F60 on Me { key { id } }`),
    );
  });

  test('does not keep another request waiting', async () => {
    const start = cpuTime();
    const answers = await Promise.all(
      [...Object.values(HOSTILE), '{ __typename }'].map((text) => caller.graphql(text)),
    );
    expect(answers.at(-1)?.status).toBe(200);
    expect(cpuTime() - start).toBeLessThan(QUICK);
  });
});
