import { randomUUID } from 'node:crypto';
import { databaseName } from '../../src/mongo/databaseNames';
import { type Answer, type Call, labelOf, type Reply } from '../client';
import { type Command, type DatabaseProxy, openDatabaseProxy } from '../databaseProxy';
import type { Gateway } from '../gateway';
import { databaseOf } from '../ledger';
import { type Case, number, Promises, type Scale } from '../outcome';
import type { Rig, Tenant } from '../rig';
import { milliseconds, patiently, sleep } from '../timing';

const PRODUCTS = 3;
/** Upper limit, so that the case ends; a write has fewer steps. */
const MOST_POINTS = 60;
/** Minimum number of steps of a write with an Idempotency-Key: claim, read, store, save the answer, commit. */
const LEAST_POINTS = 5;
/** How long a dead gateway's transaction may lock its objects, in milliseconds. */
const SETTLED_WITHIN = 90_000;

/** kill -9 at each step of one write, before the database's answer to that step arrives. */
export const crashPoints: Case = {
  name: 'crash-points',
  title: 'kill -9 at every step of a write',
  what: () =>
    `A bulk write of ${number(PRODUCTS)} new products with an Idempotency-Key goes to a gateway that reaches the database through a proxy. The gateway gets SIGKILL once the database has answered the write's first command, before that answer arrives; next time after the second command, and so on until a write completes. After each kill the same write is sent twice to another gateway under the same key. Promise: whichever step the kill hits, the write is stored exactly once, its answer says that the products were created, and the replay is identical.`,
  async run({ rig, scale, tell }) {
    const [survivor] = await rig.gateways();
    const tenant = await rig.newTenant('crash points');
    const promises = new Promises();
    const steps: string[] = [];
    /** Settled together, since each may have to wait for the end of its transaction. */
    const settling: Promise<number>[] = [];
    let point = 1;
    for (; point <= MOST_POINTS; point += 1) {
      const trial = await crashAt(point, rig, tenant, scale);
      const { step } = trial;
      if (step === undefined) {
        promises.keep(
          trial.reply.kind === 'answer' && trial.reply.status === 200,
          `without a kill: ${labelOf(trial.reply)}`,
        );
        break;
      }
      steps.push(step);
      promises.keep(trial.reply.kind === 'failed', `killed after ${step}, yet answered ${labelOf(trial.reply)}`);
      settling.push(retry({ ...trial, step }));
      if (point % 5 === 0) tell(`${String(point)} steps`);
    }
    const waits = await Promise.all(settling);

    /** Sends the write twice to the other gateway. Resolves with how long the first took, in milliseconds. */
    async function retry({ step, call, skus }: Trial & { readonly step: string }): Promise<number> {
      const started = performance.now();
      const first = await settle(survivor, call);
      const waited = performance.now() - started;
      const second = await settle(survivor, call);
      judge(step, first, second, promises);
      const count = await patiently(() => stored(rig, tenant, skus));
      promises.keep(count === PRODUCTS, `killed after ${step}: not stored exactly once`);
      return waited;
    }
    promises.keep(steps.length >= LEAST_POINTS && point <= MOST_POINTS, `the write had ${String(steps.length)} steps`);
    return {
      notes: [
        `A write has ${number(steps.length)} steps: ${steps.join(', ')}.`,
        `The other gateway completed the write at most ${milliseconds(Math.max(0, ...waits))} after the kill, once the database had ended the dead gateway's transaction.`,
      ],
      broken: promises.broken,
    };
  },
};

interface Trial {
  readonly call: Call;
  readonly skus: readonly string[];
  readonly reply: Reply;
  /** The last command answered before the kill; undefined if the write completed. */
  readonly step: string | undefined;
}

/** Sends one write and kills its gateway when the database has answered the write's `point`-th command. */
async function crashAt(
  point: number,
  rig: Rig,
  { organisationId, key }: Tenant,
  { endsTransactions }: Pick<Scale, 'endsTransactions'>,
): Promise<Trial> {
  const sessions = new Map<string, unknown>();
  let [isWatching, answered, step] = [false, 0, undefined as string | undefined];
  const proxy: DatabaseProxy = await openDatabaseProxy(rig.database.uri, {
    onReply(reply, command) {
      if (step !== undefined) return undefined;
      if (!isWatching || !command || !isOfWrite(command, organisationId)) return reply;
      if (command.lsid !== undefined) sessions.set(JSON.stringify(command.lsid), command.lsid);
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
  isWatching = false;
  await victim.end('SIGKILL');
  await proxy.close();
  // as the database does by itself once its limit for transactions is over, 60 s by default
  if (endsTransactions && sessions.size > 0) {
    const admin = rig.store.databases.control.getClient().db('admin');
    await patiently(() => admin.command({ killSessions: [...sessions.values()] }));
  }
  return { call, skus, reply, step };
}

/** Whether a command belongs to the write: it is in the organisation's database, and none that looks after indexes in the background, or commits the transaction. */
function isOfWrite(command: Command, organisationId: string): boolean {
  if ('listIndexes' in command || 'count' in command) return false;
  return command.$db === databaseName(organisationId) || 'commitTransaction' in command;
}

/** Retries a write while the answer is to wait for the dead gateway's transaction. */
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
    promises.keep(false, `killed after ${step}: got ${labelOf(first)}, then ${labelOf(second)}`);
    return;
  }
  const { created } = (JSON.parse(first.body) ?? {}) as { created?: number };
  promises.keep(created === PRODUCTS, `killed after ${step}: got ${first.body.slice(0, 100)}`);
  const isReplay = second.headers['idempotent-replayed'] === 'true' && second.body === first.body;
  promises.keep(isReplay, `killed after ${step}: the replay is ${second.body.slice(0, 100)}`);
}

/** Number of stored products with these skus. */
async function stored(rig: Rig, { organisationId }: Tenant, skus: readonly string[]): Promise<number> {
  const database = await databaseOf(rig.store, organisationId);
  return database.collection('products').countDocuments({ sku: { $in: [...skus] } });
}
