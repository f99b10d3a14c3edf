import mongoose from 'mongoose';
import { signalQuietly } from '../../src/embedded/process';
import { type Caller, isSuccess, labelOf } from '../client';
import type { Gateway } from '../gateway';
import { type Changes, createWriters } from '../eventWriters';
import { type Case, number, Promises } from '../outcome';
import { milliseconds, sleep, until } from '../timing';

/** Longer than a lease lasts, in milliseconds (src/events/tail/lease.ts). */
const STOPPED_FOR = 11_500;
/** How long changes go on at most, and how long their events may take afterwards, in milliseconds. */
const [WRITES_WITHIN, TOLD_WITHIN] = [400_000, 60_000];

type Trouble = 'stopped' | 'killed' | 'database killed';
/** What happens, in order; the short run has the first of each. */
const TROUBLES: readonly Trouble[] = [
  ...(['stopped', 'killed', 'database killed', 'killed', 'killed'] as const),
  ...(['stopped', 'killed', 'database killed', 'killed', 'stopped', 'killed'] as const),
];

/** Events of changes by three writers, while who records them is stopped and killed, and the database is killed. */
export const events: Case = {
  name: 'events',
  title: 'Events of every change',
  what: ({ changes }) =>
    `Three writers make at least ${number(changes)} changes: clients of two gateways, a program with its own driver, and a program with transactions, half of which are rolled back. Meanwhile the gateway that records events is ${troublesOf(changes)}; a stop lasts ${milliseconds(STOPPED_FOR)}, longer than its lease. Promise: the feed has every committed change exactly once, in the order of each object, and none that was rolled back.`,
  async run({ rig, scale, tell }) {
    const gateways = await rig.gateways();
    const { key, organisationId } = await rig.newTenant('events');
    const bare = await mongoose.mongo.MongoClient.connect(rig.database.uri, {
      writeConcern: { w: 'majority', journal: true },
      serverSelectionTimeoutMS: 3000,
    });
    // a database that was never tailed is tailed from now on
    await recorders(gateways);
    const writers = createWriters(
      bare,
      organisationId,
      gateways.map(({ call }) => call),
      key,
    );
    const promises = new Promises();
    const started = performance.now();
    const troubles = troublesFor(scale.changes);
    for (const [at, trouble] of troubles.entries()) {
      // changes before, between and after
      const enough = (scale.changes * at) / (troubles.length + 1) + 20;
      await until(() => writers.count() > enough, WRITES_WITHIN);
      const [recorder, other] = await recorders(gateways);
      tell(`${trouble} (${String(at + 1)} of ${String(troubles.length)})`);
      if (trouble === 'stopped') {
        signalQuietly(recorder.pid(), 'SIGSTOP');
        await sleep(STOPPED_FOR);
        await until(() => isRecording(other), 10_000);
        signalQuietly(recorder.pid(), 'SIGCONT');
        await sleep(500);
      } else if (trouble === 'killed') {
        await recorder.end('SIGKILL');
        await recorder.restart();
      } else {
        await rig.database.kill();
        await sleep(500);
        await rig.database.restart();
      }
    }
    await until(() => writers.count() >= scale.changes, WRITES_WITHIN);
    const changes = await writers.stop();
    const wrote = performance.now() - started;
    tell(`${number(writers.count())} changes in ${milliseconds(wrote)}; reading the feed`);
    const feed = await readFeed(gateways[0].call, key, changes);
    promises.keep(writers.count() >= scale.changes, `only ${number(writers.count())} changes were made`);
    promises.keep(feed.missing === 0, `${number(feed.missing)} changes are not in the feed: ${feed.example}`);
    promises.keep(feed.twice === 0, `${number(feed.twice)} events are there twice`);
    promises.keep(feed.wrong === 0, `${number(feed.wrong)} objects have other events than changes: ${feed.example}`);
    promises.keep(feed.never === 0, `${number(feed.never)} events are of changes that were rolled back`);
    await bare.close();
    return {
      attempted: writers.count(),
      present: writers.count() - feed.missing,
      lost: feed.missing,
      duplicated: feed.twice,
      notes: [
        `${number(writers.count())} committed changes of ${number(changes.objects.size)} objects, ${number(feed.events)} events; ${number(changes.aborted.size)} objects were rolled back.`,
        `The feed was complete ${milliseconds(feed.ms)} after the last change.`,
      ],
      broken: promises.broken,
    };
  },
};

/** In full, or the first of each. */
function troublesFor(changes: number): readonly Trouble[] {
  return changes < 10_000 ? TROUBLES.slice(0, 3) : TROUBLES;
}

function troublesOf(changes: number): string {
  const all = troublesFor(changes);
  const times = (wanted: Trouble): string =>
    `${wanted} ${String(all.filter((trouble) => trouble === wanted).length)} times`;
  return `${times('stopped')} and ${times('killed')}, and the ${times('database killed')}`;
}

async function isRecording({ call }: Gateway): Promise<boolean> {
  const reply = await call({ method: 'GET', path: '/metrics', fresh: true }, 2000);
  return reply.kind === 'answer' && /^scopegate_events_lag_seconds/m.test(reply.body);
}

/** The gateway that records, and the other. */
async function recorders([a, b]: [Gateway, Gateway]): Promise<[Gateway, Gateway]> {
  let pair: [Gateway, Gateway] | undefined;
  await until(async () => {
    if (await isRecording(a)) pair = [a, b];
    else if (await isRecording(b)) pair = [b, a];
    return pair !== undefined;
  }, 40_000);
  if (!pair) throw new Error('no gateway records events');
  return pair;
}

interface Told {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly id: string } | null;
  readonly status: string | null;
}

/** Reads the feed until it has as many events as there were changes, or for too long, and compares. */
async function readFeed(call: Caller, key: string, { objects, aborted }: Changes) {
  const wanted = [...objects.values()].reduce((sum, list) => sum + list.length, 0);
  const all: Told[] = [];
  const started = performance.now();
  for (let after = ''; performance.now() - started < TOLD_WITHIN;) {
    const reply = await call({ method: 'GET', path: `/api/v1/events?limit=100&wait=2${after}`, key });
    if (!isSuccess(reply) || reply.kind !== 'answer') {
      await sleep(200);
      if (performance.now() - started > TOLD_WITHIN) throw new Error(`the feed returned ${labelOf(reply)}`);
      continue;
    }
    const page = JSON.parse(reply.body) as { data: Told[]; has_more: boolean; next_cursor: string };
    all.push(...page.data);
    after = `&after=${page.next_cursor}`;
    // a page more, so that what should not be there is found as well
    if (all.length >= wanted && page.data.length === 0) break;
  }
  const told = new Map<string, string[]>();
  for (const { type, object, status } of all) {
    const id = object?.id ?? '';
    told.set(id, [...(told.get(id) ?? []), `${type} ${String(status)}`]);
  }
  const wrong = [...objects].filter(([id, changes]) => told.get(id)?.join() !== changes.join());
  const [example] = wrong.map(([id, changes]) => `${changes.join()} became ${String(told.get(id)?.join())}`);
  return {
    events: all.length,
    missing: wrong.reduce((sum, [id, changes]) => sum + Math.max(0, changes.length - (told.get(id)?.length ?? 0)), 0),
    twice: all.length - new Set(all.map(({ id }) => id)).size,
    wrong: wrong.length,
    never: [...aborted].filter((id) => told.has(id)).length + (told.has('') ? 1 : 0),
    example: example ?? '',
    ms: performance.now() - started,
  };
}
