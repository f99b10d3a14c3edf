import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, signalQuietly, waitUntilGone } from './liveness';
import { identify } from './ping';
import { readRecord, writeRecord } from './recordFile';
import { DatabaseUnavailable, localKind } from './types';

const recordShape = z.object({
  state: z.enum(['running', 'stopping']),
  token: z.string(),
  host: z.string(),
  ownerPid: z.number().int().positive(),
  serverPid: z.number().int().positive(),
  kind: localKind,
  uri: z.string(),
  description: z.string(),
});

/** The running server of a data folder, as recorded by its owner. */
export type RunRecord = z.infer<typeof recordShape>;

/** A server that is stopping closes its storage first, which took 0.1 to 2 s when measured. */
const CLOSING_MS = 5_000;
/** Longer than the watchdog's grace period. */
const PATIENCE_MS = 20_000;
const ANSWER_MS = 5_000;

const runFileOf = (dataDir: string): string => join(dataDir, 'database.run.json');

/** The record, if this machine wrote it: process ids mean nothing on another machine. */
async function readOwn(dataDir: string): Promise<RunRecord | undefined> {
  const record = await readRecord(runFileOf(dataDir), recordShape);
  return record?.host === hostname() ? record : undefined;
}

/** The running server of this data folder, once it has answered a command; undefined if there is none to join. */
export async function findRunning(dataDir: string): Promise<RunRecord | undefined> {
  const record = await readOwn(dataDir);
  // an orphan is about to be stopped by its watchdog
  const isOwned = record?.state === 'running' && isAlive(record.ownerPid);
  return isOwned && (await answers(record)) ? record : undefined;
}

/** Waits for a server that is stopping, stops one without an owner, and removes the stale file. Requires the lock. */
export async function clearStale(dataDir: string, signal?: AbortSignal): Promise<void> {
  const record = await readOwn(dataDir);
  if (record && !(await waitForEnd(record, signal))) {
    throw new DatabaseUnavailable(
      `a database server (process ${String(record.serverPid)}) is still using ${dataDir} and does not stop; kill that process and start again`,
    );
  }
  await rm(runFileOf(dataDir), { force: true });
}

/** Writes the record; the returned functions only change or remove this same record. */
export async function announce(dataDir: string, server: Pick<RunRecord, 'serverPid' | 'kind' | 'uri' | 'description'>) {
  const own = { token: randomUUID(), host: hostname(), ownerPid: process.pid };
  const write = (state: RunRecord['state']): Promise<void> =>
    writeRecord(runFileOf(dataDir), { state, ...own, ...server } satisfies RunRecord);
  const ifOurs = async (work: () => Promise<void>): Promise<void> => {
    if ((await readOwn(dataDir))?.token === own.token) await work();
  };
  await write('running');
  return {
    stopping: () => ifOurs(() => write('stopping')),
    remove: () => ifOurs(() => rm(runFileOf(dataDir), { force: true })),
  };
}

async function waitForEnd({ uri, serverPid, ownerPid }: RunRecord, signal?: AbortSignal): Promise<boolean> {
  if (await waitUntilGone(serverPid, CLOSING_MS, signal)) return true;
  // the pid probably belongs to another process by now; if not, the storage's own lock prevents a second server
  if (!(await answers({ uri, serverPid }))) return true;
  // owner and watchdog were both killed, so nobody else can stop it
  if (!isAlive(ownerPid)) signalQuietly(serverPid, 'SIGTERM');
  return waitUntilGone(serverPid, PATIENCE_MS, signal);
}

async function answers({ uri, serverPid }: Pick<RunRecord, 'uri' | 'serverPid'>): Promise<boolean> {
  if (!isAlive(serverPid)) return false;
  return (await identify(uri, ANSWER_MS).catch(() => undefined)) === serverPid;
}
