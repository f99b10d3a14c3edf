import { randomUUID } from 'node:crypto';
import { databaseName } from '../../src/database/organisationData';
import { type Answer, type Call, labelOf, type Reply } from '../client';
import { type Command, type DatabaseProxy, openDatabaseProxy } from '../databaseProxy';
import type { Gateway } from '../gateway';
import { type Case, number, Promises } from '../outcome';
import type { Rig, Tenant } from '../rig';
import { milliseconds, sleep } from '../timing';

const PRODUCTS = 3;
/** More points than a write has, so that the case ends. */
const MOST_POINTS = 60;
/** Fewest points that a write with an Idempotency-Key has: claim, read, store, answer, commit. */
const LEAST_POINTS = 5;
/** Seconds after which the database ends a transaction whose gateway died: each kill waits for one. */
const TRANSACTION_LIFETIME = 2;
/** How long a dead gateway's transaction may hold its objects, in milliseconds. */
const SETTLED_WITHIN = 90_000;

/** kill -9 at each step of one write, the database's answer to that step held back. */
export const crashPoints: Case = {
  name: 'crash-points',
  title: 'kill -9 at every step of a write',
  what: () =>
    `A bulk write of ${number(PRODUCTS)} new products with an Idempotency-Key goes to a gateway whose way to the database is watched; the gateway gets SIGKILL when the database has answered the first question of that write and before that answer arrives, then the second, and so on until a write gets through. After each kill another gateway takes the same write under the same key, and once more. Promise: whatever the step, the write is there exactly once, its answer says that the products were created, and the replay says the same.`,
  async run({ rig, tell }) {
    const [survivor] = await rig.gateways();
    const tenant = await rig.newTenant('crash points');
    const promises = new Promises();
    await rig.database.limitTransactions(TRANSACTION_LIFETIME);
    const steps: string[] = [];
    const waits: number[] = [];
    let point = 1;
    for (; point <= MOST_POINTS; point += 1) {
      const trial = await crashAt(point, rig, tenant);
      if (!trial.step) {
        promises.keep(
          trial.reply.kind === 'answer' && trial.reply.status === 200,
          `no kill, and ${labelOf(trial.reply)}`,
        );
        break;
      }
      steps.push(trial.step);
      promises.keep(trial.reply.kind === 'failed', `killed after ${trial.step}, and answered ${labelOf(trial.reply)}`);
      await rig.database.endOrphans();
      const started = performance.now();
      const first = await settle(survivor, trial.call);
      waits.push(performance.now() - started);
      const second = await survivor.call(trial.call);
      judge(trial.step, first, second, promises);
      promises.keep(
        (await stored(rig, tenant, trial.skus)) === PRODUCTS,
        `killed after ${trial.step}: not there just once`,
      );
      if (point % 5 === 0) tell(`${String(point)} steps`);
    }
    await rig.database.limitTransactions();
    promises.keep(steps.length >= LEAST_POINTS && point <= MOST_POINTS, `the write had ${String(steps.length)} steps`);
    return {
      notes: [
        `A write has ${number(steps.length)} steps: ${steps.join(', ')}.`,
        `The other gateway had taken the write at most ${milliseconds(Math.max(0, ...waits))} after the kill, the dead gateway's transaction having been ended by the database.`,
      ],
      broken: promises.broken,
    };
  },
};

interface Trial {
  readonly call: Call;
  readonly skus: readonly string[];
  readonly reply: Reply;
  /** What the database had answered when the gateway was killed; undefined when the write got through. */
  readonly step: string | undefined;
}

/** Sends one write, and kills its gateway when the database has answered its `point`-th question. */
async function crashAt(point: number, rig: Rig, { organisationId, key }: Tenant): Promise<Trial> {
  let [isWatching, answered, step] = [false, 0, undefined as string | undefined];
  const proxy: DatabaseProxy = await openDatabaseProxy(rig.database.uri, {
    onReply(reply, command) {
      if (step !== undefined) return undefined;
      if (!isWatching || !command || !isOfWrite(command, organisationId)) return reply;
      answered += 1;
      if (answered < point) return reply;
      const name = Object.keys(command)[0] ?? '';
      step = name === 'commitTransaction' ? name : `${name} ${String(command[name])}`;
      void victim.end('SIGKILL');
      return undefined;
    },
  });
  const victim = await rig.oneGateway('victim', { MONGODB_URI: proxy.uri });
  const id = randomUUID();
  const skus = Array.from({ length: PRODUCTS }, (_none, index) => `${id}-${String(index)}`);
  const call: Call = {
    method: 'POST',
    path: '/api/v1/products/bulk',
    key,
    idempotencyKey: `crash-${id}`,
    body: JSON.stringify({ products: skus.map((sku) => ({ sku, name: 'Crash' })) }),
  };
  isWatching = true;
  const reply = await victim.call({ ...call, fresh: true });
  await victim.end('SIGKILL');
  await proxy.close();
  return { call, skus, reply, step };
}

/** Whether a command is one of the write's own: in its organisation's database, or the end of its transaction. */
function isOfWrite(command: Command, organisationId: string): boolean {
  return command.$db === databaseName(organisationId) || 'commitTransaction' in command;
}

/** Sends a write until it is not told to wait for the dead gateway's transaction. */
async function settle(gateway: Gateway, call: Call): Promise<Reply> {
  const deadline = performance.now() + SETTLED_WITHIN;
  for (;;) {
    const reply = await gateway.call(call);
    const isToldToWait = reply.kind === 'answer' && (reply.status === 409 || reply.status === 503);
    if (!isToldToWait || performance.now() > deadline) return reply;
    await sleep(200);
  }
}

function judge(step: string, first: Reply, second: Reply, promises: Promises): void {
  const isAnswer = (reply: Reply): reply is Answer => reply.kind === 'answer' && reply.status === 200;
  if (!isAnswer(first) || !isAnswer(second)) {
    promises.keep(false, `killed after ${step}: answered ${labelOf(first)}, then ${labelOf(second)}`);
    return;
  }
  const { created } = (JSON.parse(first.body) ?? {}) as { created?: number };
  promises.keep(created === PRODUCTS, `killed after ${step}: answered ${first.body.slice(0, 100)}`);
  const isReplay = second.headers['idempotent-replayed'] === 'true' && second.body === first.body;
  promises.keep(isReplay, `killed after ${step}: the replay says ${second.body.slice(0, 100)}`);
}

/** How many products there are under these skus. */
async function stored(rig: Rig, { organisationId }: Tenant, skus: readonly string[]): Promise<number> {
  const organisation = await rig.store.control.organisations.find(organisationId);
  if (!organisation) throw new Error(`there is no organisation ${organisationId}`);
  const { connection } = rig.store.databases.organisationData(organisation);
  return connection.collection('products').countDocuments({ sku: { $in: [...skus] } });
}
