import { randomBytes } from 'node:crypto';
import type { Command } from '../../faults/databaseProxy';
import { indexesOf } from '../../src/mongo/indexes';
import { CONTROL_SCHEMA } from '../../src/organisations/controlSchema';
import { controlCollections } from '../../src/organisations/models';
import { commandLine } from '../cli/commandLine';
import { startGateway } from '../support/gateway';
import { recordCommands } from '../support/recordedCommands';

/* The control database stores the version of its indexes, so that no command creates them again. */

const CONTROL = (): string => `scopegate_schema_${randomBytes(6).toString('hex')}`;
interface SchemaRow {
  readonly _id: string;
  readonly version: number;
}

const nameOf = (command: Command): string => Object.keys(command)[0] ?? '';

test('commands create no index if the database is already at this version', async () => {
  const { proxy, sent } = await recordCommands();
  try {
    const cli = commandLine({ MONGODB_URI: proxy.uri });
    await cli.json('org', 'list');
    expect(sent.filter((one) => nameOf(one) === 'createIndexes')).toHaveLength(controlCollections.length);
    sent.length = 0;
    await cli.json('org', 'list');
    expect(sent.filter((one) => /index/i.test(nameOf(one)))).toEqual([]);
    expect(sent.filter((one) => one.find === 'deployment')).toHaveLength(1);
  } finally {
    await proxy.close();
  }
});

test('gateways that start together on a new database all start, and each index is created once', async () => {
  const name = CONTROL();
  const gateways = await Promise.all(Array.from({ length: 8 }, () => startGateway({ CONTROL_DATABASE: name })));
  const [{ databases }] = gateways as [(typeof gateways)[number]];
  const db = databases.control.getClient().db(name);
  expect(await db.collection('deployment').findOne({ _id: 'schema' as never })).toEqual({
    _id: 'schema',
    version: CONTROL_SCHEMA,
  });
  const indexes = await db.collection('organisations').listIndexes().toArray();
  const declared = controlCollections.find(({ name: one }) => one === 'organisations')!;
  const names = ['_id_', ...indexesOf(declared).map((index) => index.name)];
  expect(indexes.map((index) => index.name as string).sort()).toEqual(names.sort());
  await Promise.all(gateways.map((gateway) => gateway.stop()));
});

test('a database with a later version is rejected in one sentence, and keeps its version', async () => {
  const name = CONTROL();
  await using gateway = await startGateway({ CONTROL_DATABASE: name });
  const rows = gateway.databases.control.collection<SchemaRow>('deployment');
  await rows.updateOne({ _id: 'schema' }, { $set: { version: CONTROL_SCHEMA + 1 } });
  const { code, stdout, stderr } = await commandLine({ CONTROL_DATABASE: name }).run('org', 'list', '--json');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `error: the control database ${name} has schema version ${String(CONTROL_SCHEMA + 1)}, but this version of scopegate knows only ${String(CONTROL_SCHEMA)}`,
  );
  expect(stderr.match(/error:/g)).toHaveLength(1);
  expect((await rows.findOne({ _id: 'schema' }))!.version).toBe(CONTROL_SCHEMA + 1);
});

test('a database with an earlier version gets its missing indexes', async () => {
  const name = CONTROL();
  await using gateway = await startGateway({ CONTROL_DATABASE: name });
  const rows = gateway.databases.control.collection<SchemaRow>('deployment');
  const organisations = gateway.databases.control.collection('organisations');
  await organisations.dropIndex('move.to_1');
  await rows.updateOne({ _id: 'schema' }, { $set: { version: CONTROL_SCHEMA - 1 } });
  await commandLine({ CONTROL_DATABASE: name }).json('org', 'list');
  expect(await organisations.indexExists('move.to_1')).toBe(true);
  expect((await rows.findOne({ _id: 'schema' }))!.version).toBe(CONTROL_SCHEMA);
});
