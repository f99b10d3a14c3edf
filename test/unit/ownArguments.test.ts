import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { print } from 'graphql';
import { ownErrors } from '../../src/schema/own/check';
import { readOurs } from '../../src/sdl/files';
import { joinDocuments, readOwn } from '../../src/sdl/own';
import { eachWithTemplate } from '../support/templateFolder';

/* Arguments that follow from members which the folder of a user adds. */

let folder: string;
eachWithTemplate((copy) => {
  folder = copy;
});

describe('a member that is added', () => {
  const sdlWith = (sdl: string): string => {
    writeFileSync(join(folder, 'more.graphql'), sdl);
    expect(ownErrors(folder)).toEqual([]);
    return print(joinDocuments(readOurs(), readOwn(folder, {})));
  };

  test.each([
    [
      'a text',
      'colour: String @constraint(max_length: 20) @filter',
      'colour: String @constraint(max_length: 20) @filter\n',
    ],
    ['a number', 'size: Int @filter', 'size: Int @filter\n'],
    ['a time', 'made_at: DateTime @filter', 'made_at_since: DateTime @filter(member: "made_at", by: SINCE)'],
    ['a day', 'sold_on: Date @filter', 'sold_on_before: Date @filter(member: "sold_on", by: BEFORE)'],
    ['an enum', 'kind: LineType @filter', 'kind: [LineType!] @constraint(max_items: 20) @filter'],
  ])('filters its list, if it has @filter: %s', (_what, member, argument) => {
    const sdl = sdlWith(`extend type Product { ${member} }`);
    const list = sdl.slice(sdl.indexOf('  products('), sdl.indexOf('): ProductPage'));
    expect(list).toContain(argument);
  });

  test('is an argument of the change, if elements of the bulk call have it', () => {
    const sdl = sdlWith('extend type Product { width: Int }\nextend input ProductUpsert { "In cm." width: Int }');
    const change = sdl.slice(sdl.indexOf('  update_product('), sdl.indexOf('): Product @rest(method: PATCH'));
    expect(change).toContain('"In cm."\n    width: Int');
    expect(sdl.match(/^ {2}width: Int/gm)).toHaveLength(2);
  });
});
