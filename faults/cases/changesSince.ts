import { randomUUID } from 'node:crypto';
import { openWrites } from '../../src/database/slots';
import { databaseName } from '../../src/database/organisationData';
import { type Caller, isSuccess, labelOf, Tally } from '../client';
import { type Command, openDatabaseProxy } from '../databaseProxy';
import { type Case, number, Promises } from '../outcome';
import type { Rig } from '../rig';
import { milliseconds, sleep, until } from '../timing';

/** Products per call. */
const PRODUCTS = 5;
/**
 * A held write is delayed when its products are stored and again when its answer is: neither delay may reach the driver's
 * 30 s, and some servers reject what a transaction writes too long after its reads.
 */
const HELD_ANSWERS = 2;
/** Delay of the killed gateway's write, in milliseconds; no other write has this value. */
const DYING_HOLD = 20_001;
const FAST_LANES = 3;
/** How long the open write of a dead gateway delays readers (src/database/openWrites.ts), in milliseconds. */
const DEAD_AFTER = 100_000;
const CAUGHT_UP_WITHIN = 20_000;
const BEGINNING = '1970-01-01T00:00:00Z';

/** Readers sync with updated_since while some writes stay open and a gateway is killed during one. */
export const changesSince: Case = {
  name: 'changes-since',
  title: 'Syncing with updated_since',
  what: ({ holds, agesDeadWrites }) =>
    `Two readers keep copies as described in the guide (largest updated_at, updated_since, pages of 20; one with sort=updated_at, one without) through two gateways, while clients write as fast as they can and a third gateway's writes stay open for ${holds.map(milliseconds).join(', ')}. A fourth gateway gets SIGKILL with a write open${agesDeadWrites ? ', whose row is then backdated by 100 s' : ''}. Promise: both copies have every acknowledged row exactly as the list has it, and catch up once the dead write's row is 100 s old.`,
  async run({ rig, scale, tell }) {
    const gateways = await rig.gateways();
    const { key, organisationId } = await rig.newTenant('changes since');
    const holding = createHolding(organisationId);
    const proxy = await openDatabaseProxy(rig.database.uri, {
      onReply: async (reply, command) => {
        const ms = command && holding.of(command);
        if (ms) await sleep(ms / HELD_ANSWERS);
        return reply;
      },
    });
    const [slow, dying] = await Promise.all([
      rig.oneGateway('slow', { MONGODB_URI: proxy.uri }),
      rig.oneGateway('dying', { MONGODB_URI: proxy.uri }),
    ]);
    const tally = new Tally();
    const copies = gateways.map(({ call }, index) => createCopy(call, key, index === 0 ? '&sort=updated_at' : ''));
    let [isWriting, isReading] = [true, true];

    async function write(call: Caller, prefix: string, idempotencyKey?: string): Promise<boolean> {
      const products = Array.from({ length: PRODUCTS }, (_none, index) => ({
        // some are new, one is changed again and again
        sku: index === 0 ? `${prefix}-again` : `${prefix}-${randomUUID()}`,
        name: 'Change',
        description: randomUUID(),
      }));
      const body = JSON.stringify({ products });
      const reply = await call({ method: 'POST', path: '/api/v1/products/bulk', key, body, idempotencyKey });
      tally.add(labelOf(reply));
      return isSuccess(reply);
    }

    const reading = copies.map(async (copy) => {
      while (isReading) await copy.catchUp();
    });
    const fast = Array.from({ length: FAST_LANES }, async (_none, lane) => {
      while (isWriting) {
        await write(gateways[lane % 2 === 0 ? 0 : 1].call, `fast-${String(lane)}`);
        await sleep(20);
      }
    });
    const promises = new Promises();
    const held = await Promise.all(
      scale.holds.map(async (hold) => {
        const started = performance.now();
        promises.keep(
          await write(slow.call, holdPrefix(hold), randomUUID()),
          `a write held for ${milliseconds(hold)} failed`,
        );
        return performance.now() - started;
      }),
    );
    tell('killing a gateway with a write open');
    const lost = write(dying.call, holdPrefix(DYING_HOLD), randomUUID());
    const isOpen = await until(() => holding.began(DYING_HOLD), 20_000);
    promises.keep(isOpen !== undefined, 'the killed gateway had no write open');
    await sleep(500);
    await dying.end('SIGKILL');
    await lost;
    await sleep(500);
    isWriting = false;
    await Promise.all(fast);
    const before = await list(gateways[0].call, key);
    if (scale.agesDeadWrites) await age(rig, organisationId);
    const allowed = (scale.agesDeadWrites ? 0 : DEAD_AFTER) + CAUGHT_UP_WITHIN;
    const wait = await until(() => copies.every(({ rows }) => missing(before, rows) === 0), allowed, 250);
    isReading = false;
    await Promise.all(reading);
    await Promise.all([slow.end('SIGTERM'), proxy.close()]);
    const absent = copies.map(({ rows }) => missing(before, rows));
    for (const count of absent)
      promises.keep(count === 0, `${number(count)} of ${number(before.size)} rows are missing from a copy or outdated`);
    promises.keep(Math.max(...held) >= Math.max(...scale.holds), 'no write was held for the longest time');
    return {
      attempted: before.size,
      present: before.size - Math.max(...absent),
      lost: Math.max(...absent),
      notes: [
        `${number(before.size)} rows, synced in ${number(copies.reduce((sum, { runs }) => sum + runs(), 0))} runs; the longest write was open for ${milliseconds(Math.max(...held))}.`,
        `Writes: ${tally.toString()}. After the kill the copies ${wait === undefined ? 'never caught up' : `caught up within ${milliseconds(wait)}`}.`,
      ],
      broken: promises.broken,
    };
  },
};

type Rows = Map<string, string>;

/** A copy kept as described in the guide: rows by id, as JSON. */
function createCopy(call: Caller, key: string, sort: string) {
  const rows: Rows = new Map();
  let [since, runs] = [BEGINNING, 0];
  return {
    rows: rows as ReadonlyMap<string, string>,
    runs: () => runs,
    async catchUp(): Promise<void> {
      const run = await list(call, key, `&updated_since=${since}${sort}`);
      for (const [id, row] of run) {
        rows.set(id, row);
        const { updated_at: at } = JSON.parse(row) as { updated_at: string };
        if (at > since) since = at;
      }
      runs += 1;
      await sleep(20);
    },
  };
}

/** All pages of the product list. */
async function list(call: Caller, key: string, query = ''): Promise<Rows> {
  const rows: Rows = new Map();
  const limit = query === '' ? 100 : 20;
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/api/v1/products?limit=${String(limit)}${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const reply = await call({ method: 'GET', path, key });
    if (reply.kind !== 'answer' || reply.status !== 200) throw new Error(`listing products returned ${labelOf(reply)}`);
    const page = JSON.parse(reply.body) as { data: { id: string }[]; next_cursor: string | null };
    for (const row of page.data) rows.set(row.id, JSON.stringify(row));
    cursor = page.next_cursor;
  }
  return rows;
}

/** Number of rows missing from a copy or outdated in it. */
function missing(all: Rows, copy: ReadonlyMap<string, string>): number {
  return [...all].filter(([id, row]) => copy.get(id) !== row).length;
}

const holdPrefix = (ms: number): string => `hold-${String(ms)}-`;

/** Recognises the writes to hold by the products they read first, and from then on by their transaction. */
function createHolding(organisationId: string) {
  const held = new Map<string, { readonly ms: number; left: number }>();
  return {
    /** Whether a write with this delay has started; a retried transaction is held again. */
    began: (ms: number) => [...held.values()].some((one) => one.ms === ms),
    /** Total delay of the command's write; 0 if its answer is not delayed. */
    of(command: Command): number {
      if (command.$db !== databaseName(organisationId) || command.autocommit !== false) return 0;
      const transaction = JSON.stringify([command.lsid, String(command.txnNumber)]);
      const ms = /hold-(\d+)-/.exec(JSON.stringify(command.filter ?? ''))?.[1];
      if (ms !== undefined) held.set(transaction, { ms: Number(ms), left: HELD_ANSWERS });
      const found = held.get(transaction);
      if (!found || found.left === 0 || !('insert' in command || 'update' in command)) return 0;
      found.left -= 1;
      return found.ms;
    },
  };
}

async function rowsOf(rig: Rig, organisationId: string) {
  const organisation = await rig.store.control.organisations.find(organisationId);
  if (!organisation) throw new Error(`organisation ${organisationId} not found`);
  return rig.store.databases.organisationData(organisation).database.collection(openWrites.name);
}

/** Backdates the rows of open writes so that readers delete them. */
async function age(rig: Rig, organisationId: string): Promise<void> {
  await (
    await rowsOf(rig, organisationId)
  ).updateMany({}, { $set: { since: new Date(Date.now() - DEAD_AFTER - 1000) } });
}
