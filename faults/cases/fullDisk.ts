import { mkdir, rm, statfs } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { onEnd } from '../cleanup';
import { isReady } from '../gateway';
import { acknowledgement, isSuccess, labelOf, type Reply, Tally } from '../client';
import { type Entry, verify } from '../ledger';
import { callOf, newEntry } from '../load';
import { brokenWrites, type Case, type CaseInput, countsOf, number, type Outcome, Promises } from '../outcome';
import { runToEnd } from '../processes';
import { noise } from '../random';
import { openRig, type Rig, temporaryFolder, type Tenant } from '../rig';
import { milliseconds, sleep, until } from '../timing';

const MIB = 1024 * 1024;
const DISK_MIB = 600;
/** Space left free when the writes start; a server can go on for a while without any, since journals are preallocated. */
const LEFT_MIB = 4;
/** How long writes may still succeed on the full disk, in milliseconds. */
const FILL_TIME = 120_000;
/** How long the load continues once writes fail, in milliseconds. */
const WATCH = 5000;
const ANSWER_BOUND = 15_000;

/** The database's disk is full: writes get 503, no acknowledged write is lost, and writes resume once there is space. */
export const fullDisk: Case = {
  name: 'full-disk',
  title: 'Full database disk',
  what: () =>
    `A separate database keeps its data on a tmpfs of ${number(DISK_MIB)} MiB, of which another file fills all but ${String(LEFT_MIB)} MiB. Four clients send bulk calls and threads of incompressible text until writes fail, and for ${milliseconds(WATCH)} more, while a fifth reads. Then the file is deleted, and the database is restarted if it has exited. Promise: a write on the full disk gets 503 with Retry-After within ${milliseconds(ANSWER_BOUND)}; a read gets 200, or else 503, and then \`readyz\` returns 503 too; no acknowledged write is lost; and writes resume afterwards. Recovery is from the deletion to the first acknowledged write.`,
  async run(input) {
    const disk = await mountDisk();
    if ('refused' in disk)
      return {
        notes: [],
        broken: [],
        skipped: `cannot mount a tmpfs (${disk.refused}); this needs root on Linux`,
      };
    const rig = await openRig(disk.folder);
    try {
      return await fill(disk.folder, rig, input);
    } finally {
      await rig.close();
      await disk.unmount();
    }
  },
};

async function mountDisk(): Promise<{ folder: string; unmount: () => Promise<void> } | { refused: string }> {
  const folder = join(await temporaryFolder(), 'disk');
  await mkdir(folder);
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${String(DISK_MIB)}m`, 'scopegate-faults', folder];
    await runToEnd('mount', options, process.env);
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
  const unmount = onEnd(`the mount of ${folder}`, async () => {
    const tryIt = (): Promise<boolean> =>
      runToEnd('umount', [folder], process.env).then(
        () => true,
        () => false,
      );
    // processes with open files there may take a moment to exit
    if ((await until(tryIt, 10_000, 200)) === undefined)
      throw new Error(`could not unmount ${folder}; unmount it manually`);
  });
  return { folder, unmount };
}

async function fill(folder: string, rig: Rig, { random, tell }: CaseInput): Promise<Outcome> {
  const gateways = await rig.gateways();
  const tenant = await rig.newTenant('full disk');
  const callers = gateways.map(({ call }) => call);
  const entries: Entry[] = [];
  const [writes, reads] = [new Tally(), new Tally()];
  const [unclean, unread]: [string[], string[]] = [[], []];
  let [isOver, failedAt, slowest] = [false, 0, 0];
  let lastRead: Reply | undefined;
  const filler = noise(random, 200_000);

  async function writer(index: number): Promise<void> {
    const call = callers[index % callers.length];
    while (!isOver && call) {
      const from = Math.floor(random() * 180_000);
      const entry = newEntry(random, true, filler.slice(from, from + 19_000));
      entries.push(entry);
      entry.tries = 1;
      const reply = await call(callOf(entry, tenant.key));
      entry.acknowledged = acknowledgement(reply);
      if (!entry.acknowledged) {
        if (failedAt === 0) failedAt = performance.now();
        writes.add(labelOf(reply));
        slowest = Math.max(slowest, reply.ms);
        if (!isCleanFailure(reply)) unclean.push(brief(reply));
        await sleep(50);
      }
    }
  }

  async function reader(): Promise<void> {
    while (!isOver) {
      const reply = await gateways[0].call({ method: 'GET', path: '/api/v1/requests?limit=1', key: tenant.key });
      lastRead = reply;
      if (failedAt > 0) reads.add(labelOf(reply));
      if (!isSuccess(reply) && !isCleanFailure(reply)) unread.push(brief(reply));
      await sleep(100);
    }
  }

  const ballast = join(folder, 'ballast');
  await layBallast(folder, ballast);
  tell('the disk is almost full');
  const running = [0, 1, 2, 3].map(writer).concat(reader());
  await until(() => failedAt > 0, FILL_TIME, 100);
  const hasFailed = failedAt > 0;
  tell(hasFailed ? `writes fail after ${number(entries.length)} calls` : 'no write failed');
  if (hasFailed) await sleep(WATCH);
  const [isServed, saysReady] = [lastRead !== undefined && isSuccess(lastRead), await isReady(gateways[0], 5000)];
  isOver = true;
  await Promise.all(running);

  const survived = rig.database.isAlive();
  await rm(ballast);
  const freedAt = performance.now();
  if (!survived) await rig.database.restart();
  let isRestarted = !survived;
  let recovery = await writesGoOn(rig, tenant, entries, 10_000);
  if (recovery === undefined && survived) {
    isRestarted = true;
    await rig.database.kill();
    await rig.database.restart();
    recovery = await writesGoOn(rig, tenant, entries, 30_000);
  }
  const recoveredAfter = performance.now() - freedAt;
  const verdict = await verify(entries, rig.store, tenant.organisationId);
  const promises = new Promises();
  promises.broken.push(...brokenWrites(verdict));
  promises.keep(hasFailed, `the disk never became full: writes still succeed after ${milliseconds(FILL_TIME)}`);
  promises.keep(
    unclean.length === 0,
    `${number(unclean.length)} writes failed in another way: ${unclean.slice(0, 2).join('; ')}`,
  );
  promises.keep(
    unread.length === 0,
    `${number(unread.length)} reads failed in another way: ${unread.slice(0, 2).join('; ')}`,
  );
  const internal = await rig.internalErrors();
  promises.keep(internal.isEmpty(), `errors logged for 500 answers: ${internal.toString()}`);
  promises.keep(isServed || !saysReady, 'readyz returned 200 while reads failed');
  promises.keep(slowest <= ANSWER_BOUND, `a failing write took ${milliseconds(slowest)}`);
  promises.keep(recovery !== undefined, 'writes did not resume after space was freed');
  const server = survived ? 'kept running' : 'exited';
  return {
    ...countsOf(verdict),
    recoveries: recovery === undefined ? [] : [recoveredAfter],
    notes: [
      `Writes on the full disk: ${writes.toString()}, the slowest took ${milliseconds(slowest)}; reads: ${reads.toString()}. The database server ${server} and ${isRestarted ? 'was restarted once there was space' : 'needed no restart'}.`,
      `${number(verdict.unacknowledgedPresent)} writes are stored although their client got an error (at most once each).`,
    ],
    broken: promises.broken,
  };
}

async function layBallast(folder: string, file: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const stream = createWriteStream(file);
  const block = Buffer.alloc(MIB, 1);
  for (let left = Math.floor((bavail * bsize) / MIB) - LEFT_MIB; left > 0; left -= 1) {
    if (!stream.write(block)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

async function writesGoOn(rig: Rig, tenant: Tenant, entries: Entry[], timeoutMs: number): Promise<number | undefined> {
  const gateways = rig.running();
  return until(
    async () => {
      const replies = await Promise.all(
        gateways.map(async ({ call }) => {
          const entry = newEntry(Math.random, true);
          entry.tries = 1;
          entries.push(entry);
          const reply = await call(callOf(entry, tenant.key), 10_000);
          entry.acknowledged = acknowledgement(reply);
          return isSuccess(reply);
        }),
      );
      return replies.every(Boolean);
    },
    timeoutMs,
    100,
  );
}

function isCleanFailure(reply: Reply): boolean {
  if (reply.kind === 'failed' || reply.status !== 503 || reply.headers['retry-after'] === undefined) return false;
  return reply.headers['content-type']?.startsWith('application/problem+json') === true;
}

function brief(reply: Reply): string {
  return reply.kind === 'answer' ? `${String(reply.status)} ${reply.body.slice(0, 160)}` : reply.reason;
}
