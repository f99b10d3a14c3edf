import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, type Store } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { ROOT } from '../../tools/facts';
import { isSuccess, labelOf, Tally } from '../client';
import { onEnd } from '../cleanup';
import { type FaultDatabase, startDatabase } from '../database';
import { type Gateway, readiness } from '../gateway';
import { ANSWER_BOUND, startLoad } from '../load';
import { type Case, number, type Outcome, Promises, settle } from '../outcome';
import { type Rig, temporaryFolder, type Tenant } from '../rig';
import { milliseconds, until } from '../timing';

/** Of five moves, in which a gateway is killed, and in which the process that moves. */
const GATEWAY_DIES = 1;
const MOVER_DIES = 2;
/** Most time between two writes of a client, in milliseconds: what they write is copied in each move, and they give up after 90 s. */
const PAUSE = 2000;
/** How long another process waits for one that moves and is not seen, in milliseconds, and a little more. */
const TAKEN_OVER_AFTER = 16_000;

interface Moved {
  readonly refused_ms: number;
  readonly documents: number;
}

interface Scene {
  readonly eu: FaultDatabase;
  readonly environment: Readonly<Record<string, string>>;
  readonly store: Store;
  readonly tenant: Tenant;
}

/** An organisation moves between two clusters while it is written and read. */
export const moves: Case = {
  name: 'moves',
  title: 'An organisation moves between clusters under writes',
  what: (scale) =>
    `Two database servers, two gateways, one organisation that \`org move\` moves from one server to the other and back, ${number(scale.moves)} times, while eight clients write as above, with a pause of a second, and others read. In each fifth move one gateway gets SIGKILL and is started again; in each other fifth the process that moves gets SIGKILL at a random moment, and the same command continues after ${milliseconds(TAKEN_OVER_AFTER)}. The old copy is dropped after each move. Promise: an acknowledged write is stored exactly once, any other at most once, replays are identical to the first answer, and every read that a living gateway answered is 200.`,
  async run({ rig, scale, random, tell }): Promise<Outcome> {
    const scene = await openScene(rig);
    const promises = new Promises();
    try {
      const { environment, tenant, store } = scene;
      const gateways = await rig.gateways(environment);
      const callers = gateways.map(({ call }) => call);
      const load = startLoad({
        callers,
        key: tenant.key,
        random,
        answerBound: ANSWER_BOUND * scale.slack,
        pause: PAUSE,
      });
      const reading = startReaders(gateways, tenant);
      const done: Moved[] = [];
      let [gatewayKills, moverKills] = [0, 0];
      for (let move = 1; move <= scale.moves; move += 1) {
        const to = move % 2 === 1 ? 'eu' : 'default';
        const command = ['org', 'move', tenant.organisationId, '--to', to];
        await sleep(200 + random() * 800);
        if (move % 5 === MOVER_DIES) {
          await killMover(rig, command, environment, random() * 1500);
          moverKills += 1;
          await sleep(TAKEN_OVER_AFTER);
        }
        const { cluster } = (await store.control.organisations.find(tenant.organisationId)) ?? {};
        // a mover may be killed when it has finished
        const moving = cluster === to ? undefined : rig.scopegate<Moved>(command, environment);
        if (move % 5 === GATEWAY_DIES) {
          const victim = gateways[random() < 0.5 ? 0 : 1];
          await sleep(random() * 1500);
          await victim.end('SIGKILL');
          await victim.restart();
          await until(async () => (await readiness(victim)) === 'ok', 30_000);
          gatewayKills += 1;
        }
        const moved = await moving;
        if (moved) done.push(moved);
        const gap = await load.nextAcknowledgement(30_000);
        promises.keep(gap !== undefined, `no write was acknowledged within 30 s after move ${String(move)}`);
        await dropCopy(rig, scene);
        tell(
          `${String(move)} of ${String(scale.moves)} moves${moved ? `, ${number(moved.documents)} documents, writes refused for ${milliseconds(moved.refused_ms)}` : ''}`,
        );
      }
      await load.stop();
      const reads = await reading.stop();
      const { counts } = await settle(load, callers, { ...rig, store }, tenant);
      promises.broken.push(...counts.broken);
      promises.keep(reads.bad.length === 0, `reads: ${reads.bad.slice(0, 3).join('; ')}`);
      return {
        ...counts,
        recoveries: done.map(({ refused_ms: refused }) => refused),
        notes: [
          `${number(done.length)} moves were reported by their own command; ${String(gatewayKills)} had a gateway killed, ${String(moverKills)} their process. Recovery is how long writes were refused; the last move copied ${number(done.at(-1)?.documents ?? 0)} documents.`,
          `Reads meanwhile: ${reads.tally.toString()}.`,
          ...counts.notes,
        ],
        broken: promises.broken,
      };
    } finally {
      await rig.endGateways();
      await scene.store.close();
      await scene.eu.stop();
    }
  },
};

async function openScene(rig: Rig): Promise<Scene> {
  const eu = await startDatabase(await temporaryFolder(), join(ROOT, '.cache'));
  const environment = { MONGODB_CLUSTERS: `eu=${eu.uri}` };
  const store = await openStore(readConfig({ ...rig.environment, ...environment }), () => undefined);
  // to read there what is stored, at the end
  await store.databases.reach('eu');
  const { id } = await store.control.organisations.create({
    ...{ name: 'moved', plan: 'integrations', currency: 'USD', cluster: 'default' },
  });
  return { eu, environment, store, tenant: { organisationId: id, key: (await rig.newKey(id)).key } };
}

/** Starts a command and kills it after a time, unless it has ended. */
async function killMover(
  rig: Rig,
  command: readonly string[],
  environment: Scene['environment'],
  after: number,
): Promise<void> {
  const env = { ...rig.environment, ...environment };
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'main.js'), ...command], { env, stdio: 'ignore' });
  const forget = onEnd(command.join(' '), () => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  // it takes about half a second to start
  await sleep(400 + after);
  child.kill('SIGKILL');
  await ended;
  await forget();
}

/** Drops the old copy without waiting for requests that began 90 s ago: the load's end sooner. */
async function dropCopy(rig: Rig, { store, tenant, environment }: Scene): Promise<void> {
  const rows = store.databases.control.collection<{ _id: string }>('organisations');
  await sleep(1000);
  await rows.updateOne({ _id: tenant.organisationId }, { $set: { 'copies.$[].left_at': new Date(0) } });
  await rig.scopegate(['org', 'drop-copy', tenant.organisationId, '--confirm', 'moved'], environment);
}

interface Reads {
  readonly tally: Tally;
  /** Answers other than 200. */
  readonly bad: readonly string[];
}

function startReaders(gateways: readonly Gateway[], { key }: Tenant): { stop(): Promise<Reads> } {
  const [tally, bad]: [Tally, string[]] = [new Tally(), []];
  let isOver = false;
  const reading = Promise.all(
    gateways.map(async ({ call }) => {
      while (!isOver) {
        const reply = await call({ method: 'GET', path: '/api/v1/products?limit=5', key });
        tally.add(labelOf(reply));
        // a killed gateway answers nothing
        if (reply.kind === 'answer' && !isSuccess(reply)) bad.push(`${labelOf(reply)} ${reply.body.slice(0, 200)}`);
        await sleep(50);
      }
    }),
  );
  return {
    async stop() {
      isOver = true;
      await reading;
      return { tally, bad };
    },
  };
}
