import mongoose from 'mongoose';
import { replyWith } from '../../../faults/databaseProxy';
import { tailRows, type TailRow } from '../../../src/events/tail/lease';
import { at, changed, type Made, type Scene, type States, through } from '../../support/fixtures/doctorStates';
import type { CommandLine } from '../commandLine';

/* What doctor says about the log of the database, and about recording events. */

const secondsAgo = (seconds: number) =>
  new mongoose.mongo.Timestamp({ t: Math.floor(Date.now() / 1000) - seconds, i: 1 });

/** Stores what gateways would: how far events are recorded, and, if any runs, that it was seen just now. */
async function recorded(
  { main }: Scene,
  { controlDatabase }: Pick<CommandLine, 'controlDatabase'>,
  { runs, ...row }: { readonly runs: boolean } & Pick<TailRow, 'at' | 'fault'>,
): Promise<void> {
  const client = await mongoose.mongo.MongoClient.connect(main.uri);
  const tail = { holder: 'dead', generation: 1, until: new Date(0), ...row };
  await tailRows(client, controlDatabase).updateOne({ _id: 'tail' }, { $set: tail }, { upsert: true });
  const heartbeats = client.db(controlDatabase).collection<{ _id: string }>('heartbeats');
  if (runs) await heartbeats.updateOne({ _id: 'writes' }, { $currentDate: { at: true } }, { upsert: true });
  await client.close();
}

// doctor runs some seconds later
const ABOUT_900: readonly [RegExp, string] = [/\b9\d\d s\b/g, '900 s'];

/** Events that were recorded up to 900 s ago, of a log that goes back 1200 s. */
async function recordedLate(scene: Scene): Promise<Made> {
  const made = await through(scene, (reply, command) => {
    if (command?.find !== 'oplog.rs') return reply;
    const cursor = { id: mongoose.mongo.Long.ZERO, ns: 'local.oplog.rs', firstBatch: [{ ts: secondsAgo(1200) }] };
    return replyWith(reply, { ok: 1, cursor });
  });
  await recorded(scene, made.cli, { runs: false, at: secondsAgo(900) });
  return { ...made, names: [...(made.names ?? []), ABOUT_900, [/\b12\d\d s\b/g, '1200 s']] };
}

export const EVENTS: States = {
  // a user who may do everything else
  'the user may not read the log': (scene) =>
    through(scene, (reply, command) =>
      JSON.stringify(command ?? {}).includes('"$changeStream"')
        ? replyWith(reply, { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on admin' })
        : reply,
    ),
  'gateways run, and none records events': async (scene) => {
    const made = at(scene);
    await recorded(scene, made.cli, { runs: true, at: secondsAgo(900) });
    return { ...made, names: [ABOUT_900] };
  },
  'the gateways may not read the log': async (scene) => {
    const made = at(scene);
    await recorded(scene, made.cli, { runs: true, fault: 'the server is not in a replica set' });
    return made;
  },
  'nobody needs events': async (scene) => {
    const { cli } = at(scene);
    await recorded(scene, cli, { runs: true, at: secondsAgo(900) });
    return { cli: changed(cli, { EVENTS: 'off' }) };
  },
  'nobody needs events, and the last were recorded long ago': async (scene) => {
    const made = await recordedLate(scene);
    return { ...made, cli: changed(made.cli, { EVENTS: 'off' }) };
  },
  'the database refuses to read the log at the moment': (scene) =>
    through(scene, (reply, command) =>
      JSON.stringify(command ?? {}).includes('"$changeStream"')
        ? replyWith(reply, { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'operation exceeded time limit' })
        : reply,
    ),
  'the user may not read how far back the log goes': (scene) =>
    through(scene, (reply, command) =>
      command?.find === 'oplog.rs'
        ? replyWith(reply, { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on local' })
        : reply,
    ),
  'events are recorded late, and no gateway runs': recordedLate,
  'a gateway noticed a restore, and nobody ran `restored` since': async (scene) => {
    const made = at(scene);
    const client = await mongoose.mongo.MongoClient.connect(scene.main.uri);
    const [since, noticed] = [Date.now() - 7 * 3_600_000, Date.now() - 3_600_000].map((ms) => new Date(ms)) as [
      Date,
      Date,
    ];
    const row = { holder: 'dead', generation: 1, until: new Date(0), at: secondsAgo(1) };
    const restored = { since, at: noticed, by: 'gateway', told: true };
    const rows = tailRows(client, made.cli.controlDatabase);
    await rows.updateOne({ _id: 'tail' }, { $set: { ...row, restored } }, { upsert: true });
    await client.close();
    return {
      ...made,
      names: [
        ...(made.names ?? []),
        [new RegExp(noticed.toISOString(), 'g'), '2026-11-29T08:00:00.000Z'],
        [new RegExp(since.toISOString(), 'g'), '2026-11-29T02:00:00.000Z'],
      ],
    };
  },
};
