import { post, watch, watchedGateway } from '../../support/watchdog';

/* Documents that take long to parse and validate do not block the event loop. */

/** How many are sent at once. */
const COUNT = 300;
/** A key has 600 points, and each of them costs at least 9, one of which is for its root field. */
const MOST_VALIDATED = 66;

const gateway = watchedGateway();

function times(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join(' ');
}

/** Documents of nearly 2,000 tokens, which differ by `name`. */
const DOCUMENTS = {
  'fragments in each other': (name: string) =>
    `{ me { key { ...${name}0 } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { id ${at < 189 ? `...${name}${String(at + 1)}` : 'name'} }`)}`,
  'fragments beside each other': (name: string) =>
    `{ me { key { ${times(190, (at) => `...${name}${String(at)}`)} } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { id }`)}`,
  'unknown fields': (name: string) =>
    `{ me { key { ${times(190, (at) => `...${name}${String(at)}`)} } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { x }`)}`,
};

/** Sends documents at once with a new key. Resolves with the statuses of their answers. */
async function sendAll(document: (name: string) => string): Promise<number[]> {
  const key = { authorization: `Bearer ${await gateway.makeKey()}` };
  const bodies = Array.from({ length: COUNT }, (_, at) => JSON.stringify({ query: document(`F${String(at)}_`) }));
  const answers = await Promise.all(bodies.map((body) => post(gateway, '/graphql', body, key)));
  return answers.map(({ status }) => status);
}

// loading and compiling at first are not measured
beforeAll(() => sendAll((name) => `{ ${name}: __typename }`));

test.each(Object.entries(DOCUMENTS))(
  `${String(COUNT)} documents of a key at once, with %s, are not noticed`,
  async (title, document) => {
    let statuses: number[] = [];
    await watch(gateway, title, async () => (statuses = await sendAll(document)));
    // the others are over the rate limit, or too many at once
    const validated = statuses.filter((status) => status === 200 || status === 400).length;
    expect(validated).toBeGreaterThan(0);
    expect(validated).toBeLessThanOrEqual(MOST_VALIDATED);
  },
);
