import { ATLAS_FILES, WARN_ABOVE } from '../../src/cli/doctor/storage';
import { GATEWAY_COLLECTIONS } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import type { Collection, Index } from '../../src/mongo/collection';
import { collections } from '../../src/resources';
import { BESIDE_POOL, WATCHING } from '../../src/tenant/databases';
import { read } from '../docs/markdown';

/* How many files an organisation has, and how many organisations fit, as the guides say. */

const ALL: readonly Collection[] = [...collections, ...GATEWAY_COLLECTIONS];
/** Those of an organisation without webhooks, attachments, `Idempotency-Key` and operators' writes. */
const USUAL = ALL.filter(({ name }) => [...collections.map((one) => one.name), 'events', 'open_writes'].includes(name));
const isRule = ({ options }: Index): boolean => options?.unique ?? options?.expireAfterSeconds !== undefined;
/** A collection is one, and its index on `_id`; small ones have only the indexes that enforce a rule. */
const filesOf = (some: readonly Collection[], { isSmall }: { isSmall: boolean }): number =>
  some.reduce((sum, { indexes }) => sum + 2 + indexes.filter((index) => !isSmall || isRule(index)).length, 0);
const SMALL = filesOf(USUAL, { isSmall: true });
const WHOLE = filesOf(ALL, { isSmall: false });

const GUIDE = read('docs/guides/sharding.md');
const FILES = read('docs/decisions/files.md');
const numberIn = (text = ''): number => Number(/\d[\d,]*/.exec(text)?.[0].replaceAll(',', ''));
/** As doctor counts: it neither warns nor fails at this number. */
const fit = (files: number): [small: number, whole: number] => [Math.floor(files / SMALL), Math.floor(files / WHOLE)];
const text = (value: number): string => value.toLocaleString('en');

test('an organisation has as many files as the guide says', () => {
  expect(GUIDE).toContain(`An organisation has ${String(SMALL)} while`);
  expect(GUIDE).toContain(`${String(filesOf(ALL, { isSmall: true }))} if it uses\neverything`);
  expect(GUIDE).toContain(`${String(WHOLE)} once it uses everything`);
  expect(FILES).toContain(
    `has ${String(filesOf(ALL, { isSmall: true }))} files while it is small,\n   instead of ${String(WHOLE)}`,
  );
  expect(read('docs/decisions/shards.md')).toContain(`has up to ${String(ALL.length)}; so it is not used`);
});

const ROWS = GUIDE.split('\n').flatMap((line) => {
  const [servers = '', ...cells] = line.split('|').slice(1, -1);
  return cells.length === 4 && /^ (Atlas|your own)/.test(servers) ? [[servers.trim(), ...cells]] : [];
});

test('the table has a row for each of Atlas’ numbers and for the default', () => {
  expect(ROWS.map(([, files]) => numberIn(files))).toEqual([...Object.values(ATLAS_FILES), readConfig({}).SHARD_FILES]);
});

test.each(ROWS)('as many organisations fit on %s as the guide says', (_servers, files, small, whole, warned) => {
  const limit = numberIn(files);
  expect([small, whole].map(numberIn)).toEqual(fit(limit));
  const [warnSmall, warnWhole] = fit(limit * WARN_ABOVE);
  expect(warned.trim()).toBe(`${text(warnSmall)} small, or ${text(warnWhole)}`);
});

test.each(['docs/configuration.md', 'docs/decisions/files.md'])('as many fit by default as %s says', (page) => {
  const [small, whole] = fit(readConfig({}).SHARD_FILES);
  expect(read(page)).toMatch(
    new RegExp(`${text(small)} small (organisations|ones), or ${text(whole)} that use everything`),
  );
});

test('a set or a shard is advised for fewer organisations than doctor warns of', () => {
  const [, advised, each] = /\*\*Up to (\d,\d{3})\*\*[\s\S]*one shard for each (\d,\d{3})/.exec(GUIDE) ?? [];
  expect(advised).toBe(each);
  expect(numberIn(advised)).toBeLessThanOrEqual(fit(readConfig({}).SHARD_FILES * WARN_ABOVE)[0]);
  const [more, most] = [/for (\d,\d{3}) each/.exec(GUIDE)?.[1], ATLAS_FILES.M40 * WARN_ABOVE];
  expect(numberIn(more)).toBeLessThanOrEqual(fit(most)[0]);
  for (const [, shards, organisations] of GUIDE.matchAll(/(\d+)(?: shards)? for (3,000|30,000)/g))
    expect(Number(shards)).toBe(Math.ceil(numberIn(organisations) / numberIn(each)));
});

test('a gateway has as many connections to a host as the guide says', () => {
  expect(GUIDE).toContain(`a gateway has up to ${String(100 + BESIDE_POOL)} to each host`);
  expect(GUIDE).toContain(`and ${String(WATCHING)} more by which its drivers`);
  expect(GUIDE).toContain(`16 shards have 48, and each gateway up to ${text(48 * (100 + BESIDE_POOL))} connections`);
});

test.each(ALL)('the page about files has each index of $name', ({ name, indexes }) => {
  const rows = FILES.slice(FILES.indexOf('## Every index'), FILES.indexOf('**Removed:**')).split('\n');
  const first = rows.findIndex((row) => row.startsWith(`| ${name} |`));
  const after = rows.slice(first + 1).findIndex((row) => !row.startsWith('| |'));
  const own = rows.slice(first, first + 1 + after).filter((row) => !row.includes('| none |'));
  expect(own).toHaveLength(indexes.length);
});
