import { acknowledgement, type Caller, isSuccess, labelOf, Tally } from '../client';
import { databaseOf } from '../ledger';
import { type Case, number, Promises } from '../outcome';
import type { Random } from '../random';
import type { Rig, Tenant } from '../rig';
import { milliseconds, sleep, until } from '../timing';

const TOKEN = 'faults-operator-token-of-thirty-two-characters';
/** Environment of gateways with an operator's token. */
const ENVIRONMENT = { OPERATOR_TOKENS: `faults=${TOKEN}` };
/** Objects that are written again and again. */
const OBJECTS = 400;
/** Lines of a request. */
const LINES = 50;
/** Every tenth element has a mistake. */
const MISTAKE_EVERY = 10;
/** How long a sender sends one batch again, in milliseconds. */
const GIVE_UP_AFTER = 90_000;

/** An element to be sent: the state of an object as of a version. */
interface Element {
  readonly organisation: string;
  readonly sku: string;
  readonly version: number;
  readonly isMistaken: boolean;
}

interface Result {
  readonly outcome: string;
  readonly errors: readonly { readonly code: string }[];
}

/** Two senders of the same changes through NDJSON, while gateways and the database are killed and an organisation is erased. */
export const operatorWrites: Case = {
  name: 'operator-writes',
  title: 'Writes of operators with versions',
  what: ({ changes }) =>
    `Two programs send the same ${number(changes * 2)} changes of ${number(OBJECTS)} products of two organisations through \`POST /operator/v1/writes\`, each batch again until every line has an answer that will not change; every tenth has a mistake. Meanwhile gateways and the database get SIGKILL in turn, and a third organisation, whose lines are in each batch, is erased. Promise: each product is there once, in the last version that was answered; nothing is ever replaced by something older; a line with a mistake holds up no other.`,
  async run({ rig, scale, random, tell }) {
    const gateways = await rig.gateways(ENVIRONMENT);
    const tenants = [await rig.newTenant('written a'), await rig.newTenant('written b')];
    const erased = await rig.newTenant('erased');
    const elements = elementsOf(
      scale.changes * 2,
      tenants.map(({ organisationId }) => organisationId),
    );
    const callers = gateways.map(({ call }) => call);
    const progress = { sent: 0 };
    const senders = [0, 1].map((first) =>
      send(elements, { callers: rotated(callers, first), extra: erased.organisationId, progress, random }),
    );
    const watch = watchVersions(rig, tenants);
    const isOver = Promise.all(senders);
    isOver.catch(() => undefined);
    const kills = scale.gatewayKills + scale.databaseKills;
    for (let kill = 1; kill <= kills; kill += 1) {
      const enough = (elements.length * 2 * kill) / (kills + 1);
      await until(() => progress.sent >= enough, 400_000);
      await sleep(random() * 200);
      if (kill % 4 === 0) {
        await rig.database.kill();
        await rig.database.restart();
      } else {
        const victim = gateways[random() < 0.5 ? 0 : 1];
        await victim.end('SIGKILL');
        await victim.restart();
      }
      if (kill === Math.ceil(kills / 2)) await erase(callers, erased.organisationId);
      if (kill % 10 === 0) tell(`${String(kill)} of ${String(kills)} kills`);
    }
    const sent = await isOver;
    const { stored, rows, older } = await watch.end();
    const promises = new Promises();
    const wanted = lastVersions(elements);
    const lost = [...wanted].filter(([name, version]) => (stored.get(name) ?? -1) < version);
    promises.keep(
      lost.length === 0,
      `${number(lost.length)} products are older than what was answered: ${String(lost[0])}`,
    );
    promises.keep(older.length === 0, `${number(older.length)} products became older: ${older.slice(0, 3).join('; ')}`);
    promises.keep(rows === wanted.size, `${number(rows)} products are stored, not ${number(wanted.size)}`);
    for (const { unexpected } of sent)
      promises.keep(unexpected.length === 0, `unexpected answers: ${unexpected.slice(0, 3).join('; ')}`);
    const [firstSender, secondSender] = sent;
    return {
      attempted: elements.length * 2,
      acknowledged: progress.sent,
      present: rows,
      lost: lost.length,
      duplicated: Math.max(0, rows - wanted.size),
      notes: [
        `Results of the two programs: ${String(firstSender?.results)}; ${String(secondSender?.results)}.`,
        `Answers to requests: ${String(firstSender?.answers)}; ${String(secondSender?.answers)}.`,
        `A batch had all its answers at most ${milliseconds(Math.max(...sent.map(({ slowest }) => slowest)))} after it was first sent.`,
      ],
      broken: promises.broken,
    };
  },
};

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  return [...list.slice(by), ...list.slice(0, by)];
}

function elementsOf(count: number, organisations: readonly string[]): readonly Element[] {
  return Array.from({ length: count }, (_none, at) => ({
    organisation: organisations[at % organisations.length] ?? '',
    sku: `S-${String(at % OBJECTS)}`,
    version: at + 1,
    isMistaken: at % MISTAKE_EVERY === 3,
  }));
}

function lastVersions(elements: readonly Element[]): Map<string, number> {
  return new Map(
    elements
      .filter(({ isMistaken }) => !isMistaken)
      .map(({ organisation, sku, version }) => [`${organisation} ${sku}`, version]),
  );
}

const lineOf = ({ organisation, sku, version, isMistaken }: Element): string =>
  JSON.stringify({
    organisation,
    type: 'product',
    version,
    // the version is in the object too, where it is compared with what is stored
    put: { sku, external_ref: sku, name: `Version ${String(version)}`, ...(isMistaken && { lead_time_days: -1 }) },
  });

interface SendOptions {
  readonly callers: readonly Caller[];
  /** An organisation that each batch writes to as well, whatever becomes of it. */
  readonly extra: string;
  readonly progress: { sent: number };
  readonly random: Random;
}

/** Sends all elements in order, each batch until each of its lines has a final answer. */
async function send(elements: readonly Element[], { callers, extra, progress, random }: SendOptions) {
  const [results, answers] = [new Tally(), new Tally()];
  const unexpected: string[] = [];
  let slowest = 0;
  for (let start = 0; start < elements.length; start += LINES - 1) {
    const batch = elements.slice(start, start + LINES - 1);
    const other: Element = { organisation: extra, sku: 'extra', version: start + 1, isMistaken: false };
    let open: readonly Element[] = [...batch, other];
    const started = performance.now();
    for (let turn = 0; open.length > 0; turn += 1) {
      const call = callers[turn % callers.length];
      if (!call || performance.now() - started > GIVE_UP_AFTER) {
        unexpected.push(`${number(open.length)} lines got no answer`);
        break;
      }
      const body = open.map(lineOf).join('\n');
      const reply = await call({
        method: 'POST',
        path: '/operator/v1/writes',
        key: TOKEN,
        type: 'application/x-ndjson',
        body,
      });
      answers.add(labelOf(reply));
      const answered = acknowledgement(reply)?.body.trimEnd().split('\n') ?? [];
      const left: Element[] = open.slice(answered.length);
      for (const [at, line] of answered.entries()) {
        const [element, result] = [open[at], JSON.parse(line) as Result];
        if (!element) continue;
        const what = result.outcome === 'failed' ? `failed ${String(result.errors[0]?.code)}` : result.outcome;
        results.add(what);
        if (what === 'failed unavailable') left.push(element);
        else if (!isExpected(element, what, extra)) unexpected.push(`${lineOf(element)}: ${line}`);
      }
      // lines of one object stay in their order
      open = left.sort((a, b) => a.version - b.version);
      if (open.length > 0) await sleep(50 + random() * 200);
    }
    slowest = Math.max(slowest, performance.now() - started);
    progress.sent += batch.length;
  }
  return { results, answers, unexpected, slowest };
}

const STORED = ['created', 'updated', 'unchanged', 'stale'];

function isExpected({ organisation, isMistaken }: Element, what: string, extra: string): boolean {
  if (organisation === extra) return [...STORED, 'failed conflict', 'failed not_found'].includes(what);
  return isMistaken ? what === 'failed range' : STORED.includes(what);
}

/** Reads the stored versions again and again, and reports those that became older. */
function watchVersions(rig: Rig, tenants: readonly Tenant[]) {
  const stored = new Map<string, number>();
  const older: string[] = [];
  const state = { isOver: false };

  async function look(): Promise<number> {
    let rows = 0;
    for (const { organisationId } of tenants) {
      const database = await databaseOf(rig.store, organisationId);
      for await (const { sku, name } of database.collection('products').find().batchSize(5000)) {
        const version = Number(String(name).split(' ')[1]);
        const key = `${organisationId} ${String(sku)}`;
        const before = stored.get(key) ?? 0;
        if (version < before) older.push(`${key}: ${String(before)}, then ${String(version)}`);
        stored.set(key, version);
        rows += 1;
      }
    }
    return rows;
  }

  const watching = (async () => {
    while (!state.isOver) {
      // the database is away now and then
      await look().catch(() => undefined);
      await sleep(200);
    }
  })();
  return {
    async end() {
      state.isOver = true;
      await watching;
      return { stored, older, rows: await look() };
    },
  };
}

async function erase(callers: readonly Caller[], id: string): Promise<void> {
  const call = { method: 'POST', path: `/operator/v1/organisations/${id}/erasure`, key: TOKEN } as const;
  const body = JSON.stringify({ confirm: 'erased' });
  const isBegun = await until(async () => {
    for (const caller of callers) if (isSuccess(await caller({ ...call, body }))) return true;
    return false;
  }, 60_000);
  if (isBegun === undefined) throw new Error('the erasure of an organisation was never accepted');
}
