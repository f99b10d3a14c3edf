import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { databaseName } from '../../../src/mongo/databaseNames';
import { CONTROL_INDEXES, CONTROL_SCHEMA } from '../../../src/organisations/controlSchema';
import { type CommandLine, NORTHWIND } from '../commandLine';
import {
  acme,
  at,
  changed,
  type Made,
  onServer,
  organisationNames,
  replying,
  type Scene,
  type States,
} from '../../support/fixtures/doctorStates';

/* Clocks, and the contents of the database. */

const PRELOAD = `--require=${join(__dirname, '..', '..', 'support', 'shiftedClock.cjs')}`;

export const STORED: States = {
  'its clock is off by 30 s or more': (scene) =>
    replying(scene, ['hello'], () => ({ localTime: new Date(Date.now() + 90_000) })),
  'its replica set has no primary that accepts writes': async (scene) => {
    const made = await replying(scene, ['hello'], { isWritablePrimary: false });
    const { setName } = await onServer(scene.main, (client) => client.db('admin').command({ hello: 1 }));
    return { ...made, names: [...made.names!, [new RegExp(String.raw`\b${String(setName)}\b`, 'g'), 'rs0']] };
  },
  'a database without an organisation': async (scene) => {
    const { made, id } = await stocked(scene);
    await inControl(scene, made.cli, (control) => control.collection('organisations').deleteOne({ _id: id as never }));
    return made;
  },
  '`CONTROL_DATABASE` is mistyped': async (scene) => {
    const other = await stocked(scene);
    const made = at(scene);
    await made.cli.json('org', 'list');
    return { ...made, names: [[other.made.cli.controlDatabase, 'scopegate_other']] };
  },
  'databases of another control database': async (scene) => {
    const [{ made }, other] = [await stocked(scene), await stocked(scene)];
    return { ...made, names: [...made.names!, [other.made.cli.controlDatabase, 'scopegate_other']] };
  },
  'an organisation lacks an index': (scene) => lacking(scene),
  'more files than it may have': (scene) => withFiles(scene, 4),
  'nearly as many files as it may have': (scene) => withFiles(scene, 6),
  'the clock of this machine is off by 30 s or more': (scene) => ({
    cli: changed(at(scene).cli, { NODE_OPTIONS: PRELOAD, SHIFT_HOURS: '1' }),
    // a busy machine measures a few milliseconds more
    names: [[/\b(3599|3601) s\b/g, '3600 s']],
    isAlone: true,
  }),
  'organisations of other clusters of the version before': async (scene) => {
    const { cli } = at(scene);
    const id = await acme(cli);
    await inControl(scene, cli, (control) =>
      Promise.all([
        control.collection('organisations').updateOne({ _id: id as never }, { $set: { cluster: 'eu' } }),
        numbered(control, { version: 10 }),
      ]),
    );
    return { cli, names: organisationNames(id) };
  },
  'a process that moved an organisation has ended before it was done': async (scene) => {
    const { made, id } = await stocked(scene);
    const seen = new Date('2026-11-22T12:00:00Z');
    const move = { to: 'shard02', mover: 'killed', begun_at: seen, seen_at: seen };
    await inControl(scene, made.cli, (control) =>
      control.collection('organisations').updateOne({ _id: id as never }, { $set: { move } }),
    );
    return made;
  },
  'a job of the operator API whose last attempt failed': async (scene) => {
    const { made, id } = await stocked(scene);
    const error = 'The database is not responding.';
    const job = { _id: 'job' as never, kind: 'erasure', organisation_id: id, to: null, state: 'waiting', error };
    await inControl(scene, made.cli, (control) => control.collection('jobs').insertOne({ ...job, ended_at: null }));
    return made;
  },
  'the same, with `--fix`': async (scene) => ({ ...(await lacking(scene)), args: ['--fix'] }),
  'an index that `--fix` cannot create': async (scene) => {
    const made = await lacking(scene, async (database) => {
      await database.collection('products').updateMany({}, { $set: { sku: 'TEA-1' } });
    });
    return {
      ...made,
      args: ['--fix'],
      names: [
        ...made.names!,
        [/products \(.*E11000 duplicate key error.*\)/g, 'products (E11000 duplicate key error …)'],
      ],
    };
  },
  'a collection that has just passed 1,000 rows': async (scene) => {
    const { made, id } = await stocked(scene);
    const rows = Array.from({ length: 1000 }, (_, at) => ({
      _id: `row-${String(at)}` as never,
      sku: `S-${String(at)}`,
    }));
    const unchecked = { bypassDocumentValidation: true };
    await onServer(scene.main, (client) =>
      client.db(databaseName(id)).collection('products').insertMany(rows, unchecked),
    );
    return made;
  },
  'indexes that an earlier version needed': async (scene) => {
    const { made, id } = await stocked(scene);
    await made.cli.json('import', '--org', id, NORTHWIND);
    await onServer(scene.main, (client) =>
      client
        .db(databaseName(id))
        .collection('quotes')
        .createIndexes([{ key: { number: 1, _id: 1 }, name: 'number_1__id_1' }]),
    );
    return made;
  },
  'collections from before validators': async (scene) => {
    const { cli } = at(scene);
    return { cli, names: organisationNames(await acme(changed(cli, { STORED_VALIDATION: 'off' }))) };
  },
  'no `SCHEMA_DIR`, for a database that is served with one': async (scene) => {
    const { cli } = at(scene);
    await acme(cli, { isStocked: false });
    await recorded(scene, cli, ['Quote.project_code', 'invoices']);
    return { cli };
  },
  'the folder of `SCHEMA_DIR` lacks what the database is served with': async (scene) => {
    const { cli } = at(scene);
    await acme(cli, { isStocked: false });
    await recorded(scene, cli, ['invoices']);
    return { cli: changed(cli, { SCHEMA_DIR: 'none' }), isAlone: true };
  },
  'a validator of another version': async (scene) => {
    const { made, id } = await stocked(scene);
    const validator = { $jsonSchema: { title: 'Scopegate: Product' } };
    await onServer(scene.main, (client) => client.db(databaseName(id)).command({ collMod: 'products', validator }));
    return made;
  },
  'a validator of another program': async (scene) => {
    const { made, id } = await stocked(scene);
    const validator = { sku: { $exists: true } };
    await onServer(scene.main, (client) => client.db(databaseName(id)).command({ collMod: 'products', validator }));
    return made;
  },
  'the control database lacks an index': async (scene) => {
    const { cli } = at(scene);
    await acme(cli, { isStocked: false });
    await inControl(scene, cli, (control) =>
      control.collection('api_keys').dropIndex('organisation.id_1_created_at_1'),
    );
    return { cli };
  },
  'a proxy whose `X-Forwarded-For` has no readable address of the caller': async (scene) => {
    const { cli } = at(scene);
    await acme(cli, { isStocked: false });
    const rows = ['unknown', '203.0.113.7'].map((address) => ({ at: new Date(), address }));
    await inControl(scene, cli, (control) => control.collection('request_log').insertMany(rows));
    return { cli, names: [[/last at \S+Z/g, 'last at 2026-11-26T02:30:00.000Z']] };
  },
  'no gateway and no other command has used the control database': (scene) => at(scene),
  'the control database lacks an index that this version adds': async (scene) => {
    const { cli } = at(scene);
    await acme(cli, { isStocked: false });
    await inControl(scene, cli, async (control) => {
      await control.collection('audit_events').dropIndex('organisation_id_1_actor.who_1_at_-1__id_-1');
      await numbered(control, { indexes: CONTROL_INDEXES - 1 });
    });
    return { cli };
  },
  'the control schema is that of a version before': (scene) => numberedAs(scene, { version: CONTROL_SCHEMA - 1 }),
  'the same, once `--fix` has run': async (scene) => ({
    ...(await numberedAs(scene, { version: CONTROL_SCHEMA - 1 })),
    args: ['--fix'],
  }),
  'the control database was made by a version that is too old': (scene) => numberedAs(scene, { version: 9 }),
  'the control database was made by a later version': async (scene) => {
    const { cli } = await numberedAs(scene, { version: 99 });
    return { cli, names: [[/knows only \d+/g, 'knows only 1']] };
  },
};

/** Stores numbers of the control schema. */
function numbered(control: mongo.Db, numbers: object): Promise<unknown> {
  return control.collection('deployment').updateOne({ _id: 'schema' as never }, { $set: numbers });
}

/** An organisation in a control database of another version. */
async function numberedAs(scene: Scene, numbers: object): Promise<Made> {
  const { cli } = at(scene);
  await acme(cli, { isStocked: false });
  await inControl(scene, cli, (control) => numbered(control, numbers));
  return { cli };
}

/** As if a gateway with a folder had used the database. */
function recorded(scene: Scene, cli: CommandLine, added: readonly string[]): Promise<unknown> {
  return inControl(scene, cli, (control) =>
    control.collection('deployment').updateOne({ _id: 'schema' as never }, { $set: { added } }),
  );
}

/** An organisation with a database. */
async function stocked(scene: Scene): Promise<{ made: Made; id: string }> {
  const { cli } = at(scene);
  const id = await acme(cli);
  return { made: { cli, names: organisationNames(id) }, id };
}

/** An organisation with data in a database that may have so many files. */
async function withFiles(scene: Scene, files: number): Promise<Made> {
  const { made } = await stocked(scene);
  return { ...made, cli: changed(made.cli, { SHARD_FILES: String(files) }) };
}

/** An organisation whose products lack an index, after `change`. */
async function lacking(
  scene: Scene,
  change: (database: mongo.Db) => Promise<void> = () => Promise.resolve(),
): Promise<Made> {
  const { made, id } = await stocked(scene);
  await onServer(scene.main, async (client) => {
    const database = client.db(databaseName(id));
    await database.collection('products').dropIndex('sku_1');
    await change(database);
  });
  return made;
}

function inControl(scene: Scene, cli: CommandLine, change: (control: mongo.Db) => Promise<unknown>): Promise<unknown> {
  return onServer(scene.main, (client) => change(client.db(cli.controlDatabase)));
}
