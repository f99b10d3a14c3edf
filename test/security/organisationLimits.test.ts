import type { Organisation } from '../../src/auth/principal';
import { type Answer, type Client, client } from '../support/client';
import { callerOf, makeKey, makeOrganisation } from '../support/factories';
import { served, startGateway } from '../support/gateway';
import { ALL_FACES, operations } from '../support/operations';

/* What all keys of an organisation may use together. */

const [OF_KEY, OF_ORGANISATION] = [4, 6];
const me = operations.find(({ name }) => name === 'me')!;

let organisation: Organisation;

const gateway = served({
  RATE_LIMIT_PER_MINUTE: String(OF_KEY),
  RATE_LIMIT_ORGANISATION: String(OF_ORGANISATION),
});
beforeEach(async () => {
  organisation = await makeOrganisation(gateway);
});

const caller = async (of = organisation): Promise<Client> => callerOf(gateway, of);

async function statuses(of: Client, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let nth = 0; nth < count; nth += 1) all.push((await of.get('/me')).status);
  return all;
}

test.each(ALL_FACES)(
  '$name: the keys of an organisation together have its limit, and the answer says which is spent',
  async (face) => {
    const [one, two, three] = [await caller(), await caller(), await caller()];
    expect(await statuses(one, 4)).toEqual([200, 200, 200, 200]);
    expect(await statuses(two, 2)).toEqual([200, 200]);
    const refused: Answer = await face.call(three, me, {});
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(face.errorOf(refused)).toMatchObject({ code: 'rate_limited', retry_after: seconds });
    expect(JSON.stringify(refused.body)).toContain('Rate limit of the organisation exceeded');
    expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=3;t=\d+, "organisation";r=0;t=\d+$/);
    expect((await face.call(await caller(await makeOrganisation(gateway)), me, {})).status).toBe(200);
  },
);

test('a key over its own limit costs the other keys of its organisation nothing', async () => {
  const [one, two] = [await caller(), await caller()];
  expect(await statuses(one, 7)).toEqual([...Array<number>(4).fill(200), ...Array<number>(3).fill(429)]);
  const refused = await one.get('/me');
  expect(JSON.stringify(refused.body)).not.toContain('of the organisation');
  expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/);
  expect(await statuses(two, 3)).toEqual([200, 200, 429]);
});

test('a GraphQL request costs its organisation as much as its key', async () => {
  const one = await caller();
  await one.graphql('{ me { key { id } } a: me { key { id } } b: me { key { id } } }');
  expect((await (await caller()).get('/me')).body.organisation_rate_limit.remaining).toBe(OF_ORGANISATION - 4);
});

test('unless it is set, the limit of an organisation is ten times that of a key', async () => {
  await using standard = await startGateway({ RATE_LIMIT_PER_MINUTE: '' });
  const { key } = await makeKey(standard, organisation);
  const { headers } = await client(standard, key).get('/me');
  expect(headers.get('ratelimit-policy')).toBe('"default";q=600;w=60, "organisation";q=6000;w=60');
});
