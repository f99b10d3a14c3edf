import mongoose from 'mongoose';
import { replyWith } from '../../../faults/databaseProxy';
import { tailRows } from '../../../src/events/tail/lease';
import { at, type States, through } from '../../support/fixtures/doctorStates';

/* What doctor says about the log of the database, and about recording events. */

const secondsAgo = (seconds: number) =>
  new mongoose.mongo.Timestamp({ t: Math.floor(Date.now() / 1000) - seconds, i: 1 });

export const EVENTS: States = {
  // a user who may do everything else
  'the user may not read the log': (scene) =>
    through(scene, (reply, command) =>
      JSON.stringify(command ?? {}).includes('"$changeStream"')
        ? replyWith(reply, { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on admin' })
        : reply,
    ),
  'events are recorded late, or by nobody': async (scene) => {
    const made = await through(scene, (reply, command) => {
      if (command?.find !== 'oplog.rs') return reply;
      const cursor = { id: mongoose.mongo.Long.ZERO, ns: 'local.oplog.rs', firstBatch: [{ ts: secondsAgo(1200) }] };
      return replyWith(reply, { ok: 1, cursor });
    });
    const client = await mongoose.mongo.MongoClient.connect(scene.main.uri);
    const row = { holder: 'dead', generation: 1, until: new Date(0), at: secondsAgo(900) };
    await tailRows(client, made.cli.controlDatabase).updateOne({ _id: 'tail' }, { $set: row }, { upsert: true });
    await client.close();
    // doctor runs some seconds later
    return {
      ...made,
      names: [
        ...(made.names ?? []),
        [/up to 9\d\d s ago; the log goes back 12\d\d s/g, 'up to 900 s ago; the log goes back 1200 s'],
      ],
    };
  },
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
