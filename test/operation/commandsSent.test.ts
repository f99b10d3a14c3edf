import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../faults/databaseProxy';
import { everyCommand } from '../support/everyCommand';

/* What the product sends to its database, read on the wire while everything it can do is done. */

let sent: Command[];
beforeAll(async () => {
  sent = await everyCommand();
}, 300_000);

const nameOf = (command: Command): string => Object.keys(command)[0] ?? '';
const targetOf = (command: Command): string => `${nameOf(command)} ${String(command[nameOf(command)])}`;

/** Commands that write, or end a transaction that did. */
const WRITES = [
  'insert',
  'update',
  'delete',
  'findAndModify',
  'createIndexes',
  'create',
  'drop',
  'dropIndexes',
  'bulkWrite',
];
const ENDS = ['commitTransaction', 'abortTransaction'];
const READS = ['hello', 'buildInfo', 'ping', 'find', 'getMore', 'aggregate', 'listIndexes', 'endSessions'];

describe('every write', () => {
  test('outside a transaction carries majority and journal', () => {
    const outside = sent.filter((one) => WRITES.includes(nameOf(one)) && one.autocommit !== false);
    expect([...new Set(outside.map(targetOf))].sort()).toEqual(
      expect.arrayContaining([
        ...['findAndModify open_writes', 'delete open_writes', 'update key_usage', 'update api_keys'],
        ...['createIndexes api_keys', 'createIndexes sessions', 'createIndexes products'],
      ]),
    );
    const weak = outside.filter(({ writeConcern }) => JSON.stringify(writeConcern) !== '{"w":"majority","j":true}');
    expect(weak.map((one) => [targetOf(one), one.writeConcern])).toEqual([]);
  });

  test('in a transaction leaves that to its commit, which carries both', () => {
    const inside = sent.filter((one) => WRITES.includes(nameOf(one)) && one.autocommit === false);
    expect([...new Set(inside.map(targetOf))].sort()).toEqual(
      expect.arrayContaining([
        ...['products', 'customers', 'quotes', 'orders', 'requests', 'messages'].map((name) => `insert ${name}`),
        ...['insert idempotency_records', 'update idempotency_records', 'delete open_writes', 'delete messages'],
        ...[
          'insert organisations',
          'insert api_keys',
          'update api_keys',
          'insert audit_events',
          'findAndModify organisations',
        ],
        ...['insert sessions', 'delete sessions', 'insert sign_in_links', 'findAndModify sign_in_links'],
      ]),
    );
    expect(inside.filter(({ writeConcern }) => writeConcern !== undefined).map(targetOf)).toEqual([]);
    const ends = sent.filter((one) => ENDS.includes(nameOf(one)));
    expect(ends.map(nameOf)).toEqual(expect.arrayContaining(ENDS));
    for (const { writeConcern } of ends) expect(writeConcern).toMatchObject({ w: 'majority', j: true });
    // each that began was ended
    const transaction = ({ lsid, txnNumber }: Command): string => JSON.stringify([lsid, String(txnNumber)]);
    const begun = new Set(inside.map(transaction));
    for (const end of ends) begun.delete(transaction(end));
    expect(begun.size).toBe(0);
  });

  test('is one of these commands, and an aggregation writes nothing', () => {
    const others = sent.filter((one) => ![...WRITES, ...ENDS, ...READS].includes(nameOf(one)));
    expect(others.map(targetOf)).toEqual([]);
    expect(JSON.stringify(sent.filter((one) => 'aggregate' in one))).not.toMatch(/"\$(out|merge)"/);
  });
});

/** Options whose server matters; the others belong to a command as long as it is there. */
const OPTIONS = ['readConcern', 'writeConcern', 'maxTimeMS', 'txnNumber'];
/** What the driver puts around every command. */
const ENVELOPE = ['$db', '$clusterTime', '$readPreference'];

/** Commands, operators, stages, system variables and options of indexes in a command. */
function wordsOf(command: Command): Set<string> {
  const words = new Set([nameOf(command), ...OPTIONS.filter((option) => option in command)]);
  const look = (value: unknown): void => {
    if (typeof value === 'string' && value.startsWith('$$')) words.add(value.split('.', 1)[0] ?? '');
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name.startsWith('$')) words.add(name);
      look(inner);
    }
  };
  // documents are data; the rest is ours
  for (const [name, value] of Object.entries(command))
    if (name !== 'documents' && !ENVELOPE.includes(name)) look(value);
  for (const index of (command.indexes ?? []) as object[]) for (const option of Object.keys(index)) words.add(option);
  return words;
}

test('every word of it stands in the table of docs/decisions/mongodb-versions.md, and none besides', () => {
  const page = readFileSync(join(__dirname, '..', '..', 'docs', 'decisions', 'mongodb-versions.md'), 'utf8');
  const known = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, word]) => word!);
  const words = new Set(sent.flatMap((command) => [...wordsOf(command)]));
  // sent when a client closes, which does not wait for the answer
  words.add('endSessions');
  expect([...words].sort()).toEqual([...new Set(known)].sort());
});
