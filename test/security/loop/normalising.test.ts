import { post, watch, watchedGateway } from '../../support/watchdog';

/* Bulk calls whose texts cost most to prepare for search, beside others who are served. */

const gateway = watchedGateway();

const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_none, at) => make(at));

/** Distinct words of two letters or digits, the shortest length with enough of them. */
const WORDS = many(1200, (at) => (at + 36).toString(36)).join(' ');

test.each<[string, string, (round: number) => object]>([
  // NFKC makes it 18 times as long
  [
    'texts that grow when they are normalised',
    'products',
    (round) => ({
      products: many(170, (at) => ({
        sku: `A${String(at)}`,
        name: 'A',
        description: '\ufdfa'.repeat(4990) + String(round),
      })),
    }),
  ],
  [
    'customers with 100 contacts',
    'customers',
    (round) => ({
      customers: many(250, (at) => ({
        external_ref: `A${String(at)}`,
        name: 'A',
        contacts: many(100, (one) => ({ name: `é${String(one)} ${String(at)} ${String(round)}` })),
      })),
    }),
  ],
  [
    'elements full of words',
    'products',
    (round) => ({
      products: many(100, (at) => ({ sku: `W${String(at)}`, name: 'A', description: `${String(round)} ${WORDS}` })),
    }),
  ],
])('%s: created and changed', async (name, path, make) => {
  await watch(gateway, name, async () => {
    for (const round of [1, 2]) expect((await post(gateway, `/api/v1/${path}/bulk`, make(round))).status).toBe(200);
  });
});
