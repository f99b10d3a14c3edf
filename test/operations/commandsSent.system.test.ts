import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../faults/databaseProxy';
import { everyCommand } from '../support/everyCommand';

/* Checks the commands the product sends to its database, recorded by a proxy while it does everything it can. */

/** The table lists these apart, since only mongos knows them. */
const TO_MONGOS = ['listShards', 'enableSharding', 'movePrimary'];

/** Sent to a replica set only, whose log and parameters can be read. */
const TO_A_SET = ['$natural', 'getParameter'];

let sent: Command[];
let isSharded: boolean;
beforeAll(async () => {
  const all = await everyCommand();
  isSharded = all.some((one) => nameOf(one) === 'listShards');
  sent = all.filter((one) => !TO_MONGOS.includes(nameOf(one)) && one.$db !== 'config');
});

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
  'dropDatabase',
  'collMod',
];
const ENDS = ['commitTransaction', 'abortTransaction'];
const READS = [
  ...['hello', 'buildInfo', 'ping', 'find', 'getMore', 'aggregate', 'listIndexes', 'endSessions'],
  ...['listCollections', 'listDatabases', 'getParameter', 'count', 'killCursors', 'dbStats'],
];

describe('every write', () => {
  test('outside a transaction has write concern majority and journal', () => {
    const outside = sent.filter((one) => WRITES.includes(nameOf(one)) && one.autocommit !== false);
    expect([...new Set(outside.map(targetOf))].sort()).toEqual(
      expect.arrayContaining([
        ...['findAndModify open_writes', 'delete open_writes', 'update key_usage', 'update api_keys'],
        ...['createIndexes api_keys', 'createIndexes sessions', 'createIndexes products', 'createIndexes open_writes'],
        'dropIndexes quotes',
      ]),
    );
    const weak = outside.filter(({ writeConcern }) => JSON.stringify(writeConcern) !== '{"w":"majority","j":true}');
    expect(weak.map((one) => [targetOf(one), one.writeConcern])).toEqual([]);
  });

  test('in a transaction has no write concern, but its commit has both', () => {
    const inside = sent.filter((one) => WRITES.includes(nameOf(one)) && one.autocommit === false);
    expect([...new Set(inside.map(targetOf))].sort()).toEqual(
      expect.arrayContaining([
        ...['products', 'customers', 'quotes', 'orders', 'requests', 'messages'].map((name) => `insert ${name}`),
        ...['update idempotency_records', 'findAndModify open_writes', 'delete messages'],
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
    // every transaction was ended
    const transaction = ({ lsid, txnNumber }: Command): string => JSON.stringify([lsid, String(txnNumber)]);
    const ended = new Set(ends.map(transaction));
    expect(inside.filter((one) => !ended.has(transaction(one))).map(targetOf)).toEqual([]);
  });

  test('targets a collection that was created beforehand with all its indexes', () => {
    // a collection that a write makes has no index but that of _id
    const made = new Set<string>();
    for (const one of sent) {
      const place = `${String(one.$db)}.${String(one[nameOf(one)])}`;
      if (nameOf(one) === 'createIndexes') made.add(place);
      if (String(one.$db).startsWith('org_') && ['insert', 'findAndModify'].includes(nameOf(one)))
        expect([...made]).toContain(place);
    }
    expect(made.size).toBeGreaterThan(0);
  });

  test('uses one of these commands, and no aggregation writes', () => {
    const others = sent.filter((one) => ![...WRITES, ...ENDS, ...READS].includes(nameOf(one)));
    expect(others.map(targetOf)).toEqual([]);
    expect(JSON.stringify(sent.filter((one) => 'aggregate' in one))).not.toMatch(/"\$(out|merge)"/);
  });
});

test('a find whose rows may not fit into the usual first batch asks for one with room to spare, so that no cursor stays open', () => {
  const large = sent.filter(({ find, limit }) => find !== undefined && Number(limit) > 100);
  expect([...new Set(large.map(targetOf))]).toEqual(
    expect.arrayContaining(['find events', 'find api_keys', 'find request_log']),
  );
  const short = large.filter(({ limit, batchSize }) => !(Number(batchSize) > Number(limit)));
  expect([...new Set(short.map(targetOf))]).toEqual([]);
});

/** Options whose support depends on the server version; others exist since their command does. */
const OPTIONS = ['readConcern', 'writeConcern', 'maxTimeMS', 'txnNumber'];
/** Fields that the driver adds to every command. */
const ENVELOPE = ['$db', '$clusterTime', '$readPreference'];

/** The command, operators, stages, system variables and index options used in a command. */
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
  // documents are data, everything else is ours
  for (const [name, value] of Object.entries(command))
    if (name !== 'documents' && !ENVELOPE.includes(name)) look(value);
  for (const index of (command.indexes ?? []) as object[]) for (const option of Object.keys(index)) words.add(option);
  return words;
}

test('the table in docs/decisions/mongodb-versions.md lists exactly the commands in use', () => {
  const page = readFileSync(join(__dirname, '../../docs/decisions/mongodb-versions.md'), 'utf8');
  const known = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, word]) => word!);
  const words = new Set(sent.flatMap((command) => [...wordsOf(command)]));
  // sent when a client closes, without waiting for the answer
  words.add('endSessions');
  if (isSharded) for (const word of TO_A_SET) words.add(word);
  expect([...words].sort()).toEqual([...new Set(known)].sort());
});
