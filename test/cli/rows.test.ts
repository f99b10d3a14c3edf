import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { databaseName } from '../../src/mongo/databaseNames';
import { eventually } from '../api/http/eventually';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';
import { driver } from '../support/gateway';
import { goodQuote, MISTAKES } from '../support/mistakes';
import { commandLine, makeOrganisation, NORTHWIND } from './commandLine';

/* `doctor --rows`: the rows that another program stored so that they cannot be shown or found (docs/decisions/invalid-rows.md). */

const { Decimal128 } = mongoose.mongo;

const cli = commandLine({ STORED_VALIDATION: 'off' });
const bare = driver();

interface Found {
  readonly organisation_id: string;
  readonly collection: string;
  readonly id: string;
  readonly fault: { readonly pointer: string } | null;
  readonly members: readonly string[];
  readonly fixed: boolean;
}

interface Answer {
  readonly ok: boolean;
  readonly organisations: number;
  readonly rows: number;
  readonly left: number;
  readonly fixed: number;
  readonly found: readonly Found[];
}

async function look(...args: string[]): Promise<Answer & { readonly code: number | null; readonly stderr: string }> {
  const { code, stdout, stderr } = await cli.run('doctor', '--rows', '--json', ...args);
  return { code, stderr, ...(JSON.parse(stdout) as Answer) };
}

/** What `--fix` makes of each mistake: the members that it corrects. */
const CORRECTED: Readonly<Record<string, readonly string[]>> = {
  'no search words': ['search'],
  'a Date for a day': ['valid_until'],
  'created_at as a text': ['created_at'],
  'no updated_at': ['updated_at'],
  'a null updated_at': ['updated_at'],
  'a Decimal128 quantity': ['lines'],
  'a Decimal128 amount': ['total_minor'],
};

test('names each row that cannot be shown or found, and --fix corrects what can mean one thing only', async () => {
  const { id: org } = await makeOrganisation(cli);
  const quotes = bare.db(databaseName(org)).collection<{ _id: unknown; updated_at: unknown }>('quotes');
  const rows = MISTAKES.map(([title, spoil, pointer], at) => {
    const row = goodQuote(`Q${String(at)}`);
    row.search = title === 'a null number' ? [] : [row.number];
    spoil(row);
    return { title, row, pointer };
  });
  await quotes.insertMany(rows.map(({ row }) => row as never));

  const first = await look('--org', org);
  const wanted = rows.filter(({ title, pointer }) => pointer !== undefined || CORRECTED[title]);
  expect(first).toMatchObject({ code: 1, rows: rows.length, left: wanted.length, fixed: 0, ok: false });
  const told = new Map(first.found.map((one) => [one.id, one]));
  for (const { title, row, pointer } of rows) {
    const one = told.get(String(row._id));
    const members = CORRECTED[title];
    if (!members && pointer === undefined) expect([title, one]).toEqual([title, undefined]);
    else if (members) expect(one).toMatchObject({ collection: 'quotes', fault: null, members, fixed: false });
    else expect(one).toMatchObject({ collection: 'quotes', fault: { pointer }, fixed: false });
  }

  const before = new Map((await quotes.find().toArray()).map((one) => [String(one._id), one]));
  const second = await look('--org', org, '--fix');
  expect(second).toMatchObject({
    code: 1,
    fixed: Object.keys(CORRECTED).length,
    left: wanted.length - Object.keys(CORRECTED).length,
  });
  for (const one of await quotes.find().toArray()) {
    const { title } = rows.find(({ row }) => String(row._id) === String(one._id))!;
    const was = before.get(String(one._id))!;
    const members = CORRECTED[title] ?? [];
    const changed = Object.keys(one).filter((name) => !isSame((was as Json)[name], (one as Json)[name]));
    const isStamped = members.some((name) => name !== 'search');
    expect([title, changed.sort()]).toEqual([
      title,
      [...new Set([...members, ...(isStamped ? ['updated_at'] : [])])].sort(),
    ]);
  }
  const third = await look('--org', org);
  expect(third).toMatchObject({ code: 1, left: second.left, fixed: 0 });
  expect(third.found.every(({ members }) => members.length === 0)).toBe(true);
});

const isSame = (one: unknown, other: unknown): boolean =>
  typeof one === typeof other && JSON.stringify(one) === JSON.stringify(other);

test('corrects numbers only to what was stored, and leaves what has two meanings', async () => {
  const { id: org } = await makeOrganisation(cli);
  const quotes = bare.db(databaseName(org)).collection('quotes');
  const values: readonly [unknown, unknown][] = [
    ['100', 100],
    [Decimal128.fromString('100.00'), 100],
    [Decimal128.fromString('1E+2'), undefined],
    ['1e2', undefined],
    ['100.5', undefined],
    [' 100', undefined],
    ['', undefined],
    [Decimal128.fromString('9007199254740993'), undefined],
    ['9007199254740991', 9007199254740991],
    [100.5, undefined],
    [null, undefined],
  ];
  await quotes.insertMany(
    values.map(([total_minor], at) => ({ ...goodQuote(`Q${String(at)}`), total_minor })) as never,
  );
  await look('--org', org, '--fix');
  const stored = await quotes.find({}, { sort: { number: 1 } }).toArray();
  for (const [at, [value, made]] of values.entries()) {
    const { total_minor: now } = stored.find(({ number }) => number === `Q${String(at)}`)!;
    expect([value, String(now)]).toEqual([value, String(made ?? value)]);
  }
});

test('an organisation whose move begins meanwhile is left out with a warning, and the others are corrected', async () => {
  const [first, second] = [await makeOrganisation(cli), await makeOrganisation(cli)];
  const [held, moved] = [first, second].map(({ id }) => bare.db(databaseName(id)));
  for (const database of [held!, moved!])
    await database.collection('quotes').insertOne({ ...goodQuote('Q1'), search: [] } as never);
  // holds the command up at the first, when it has read which are being moved
  const session = bare.startSession();
  session.startTransaction();
  await held!.collection('quotes').updateOne({}, { $set: { __v: 0 } }, { session });
  const running = look('--fix');
  await eventually(async () => (await held!.collection('open_writes').countDocuments({ since: { $ne: null } })) > 0);
  const organisations = bare.db(cli.controlDatabase).collection<{ _id: string }>('organisations');
  await organisations.updateOne({ _id: second.id }, { $set: { move: { to: 'other' } } });
  await session.abortTransaction();
  await session.endSession();
  const { stderr, found } = await running;
  expect(found.filter(({ fixed }) => fixed).map((row) => row.organisation_id)).toEqual([first.id]);
  expect(stderr).toContain(`organisation ${second.id} was left out: `);
  await organisations.deleteOne({ _id: second.id });
});

test('fills in the counters and words of threads, of every organisation', async () => {
  const { id: org } = await makeOrganisation(cli);
  await cli.json('import', '--org', org, join(NORTHWIND, 'requests.ndjson'));
  const database = bare.db(databaseName(org));
  const [threads, messages] = [database.collection<Json>('requests'), database.collection<{ _id: string }>('messages')];
  const [one, other] = northwind('requests');
  const sound = await threads.findOne({ _id: one!.id });
  await threads.updateOne({ _id: one!.id }, { $unset: { search: 1, message_count: 1, last_message_at: 1 } });
  const at = new Date('2030-01-31T00:00:00Z');
  const message = { request_id: other!.id, author: 'customer', author_name: null, body: 'Zanzibar', created_at: at };
  await messages.insertOne({ _id: randomUUID(), ...message });
  const { message_count: count } = (await threads.findOne({ _id: other!.id }))!;
  const found = await look('--org', org, '--fix');
  expect(found).toMatchObject({ code: 0, fixed: 2, left: 0 });
  const { updated_at: changed, search, ...now } = (await threads.findOne({ _id: one!.id }))!;
  const { updated_at: last, search: words, ...was } = sound!;
  expect(now).toEqual(was);
  expect([...(search as string[])].sort()).toEqual([...(words as string[])].sort());
  expect(Number(changed)).toBeGreaterThan(Number(last));
  expect(await threads.findOne({ _id: other!.id })).toMatchObject({
    message_count: Number(count) + 1,
    last_message_at: at,
    search: expect.arrayContaining(['ZANZIBAR']),
  });
  const all = await look();
  expect(all.organisations).toBeGreaterThanOrEqual(1);
  expect(all.found.filter((row) => row.organisation_id === org)).toEqual([]);
  expect(await cli.failed(2, 'doctor', '--org', org)).toContain('--org needs --rows');
});
