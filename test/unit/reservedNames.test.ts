import { GATEWAY_COLLECTIONS } from '../../src/cli/store';
import { OWN_COLLECTIONS } from '../../src/schema/checks';
import { WORDS_OF_PAGES } from '../../src/schema/checks/routes';
import { read } from '../docs/markdown';

/* Names that the checks of a schema keep for the gateway are those that it has. */

test("the gateway's own collections are those that it has", () => {
  expect([...OWN_COLLECTIONS].sort()).toEqual(GATEWAY_COLLECTIONS.map(({ name }) => name).sort());
});

test('words of pages are those that the gateway keeps below the path of REST', () => {
  const kept = [...read('src/gateway/paths.ts').matchAll(/`\$\{REST_BASE\}\/(\w+)/g)].map(([, word]) => word);
  expect(WORDS_OF_PAGES).toEqual(kept);
});
