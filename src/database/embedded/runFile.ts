import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { DatabaseUnavailable } from './failures';
import { isAlive, signalQuietly, waitUntilGone } from './liveness';
import { identify } from './ping';

const recordShape = z.object({
  state: z.enum(['running', 'stopping']),
  token: z.string(),
  host: z.string(),
  ownerPid: z.number().int().positive(),
  serverPid: z.number().int().positive(),
  kind: z.enum(['binary', 'memory-server', 'secantusdb']),
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

/** The running server of this data folder, verified by a command; undefined if there is none to join. */
export async function findRunning(dataDir: string): Promise<RunRecord | undefined> {
  const record = await readRecord(dataDir);
  // an orphan is about to be stopped by its watchdog
  if (record?.state !== 'running' || !onThisHost(record) || !isAlive(record.ownerPid)) return undefined;
  return (await answers(record)) ? record : undefined;
}

/** Waits for a server that is stopping, stops one without an owner, and removes the stale file. Requires the lock. */
export async function clearStale(dataDir: string, signal?: AbortSignal): Promise<void> {
  const record = await readRecord(dataDir);
  if (record && onThisHost(record) && !(await waitForEnd(record, signal))) {
    throw new DatabaseUnavailable(
      `a database server (process ${String(record.serverPid)}) is still using ${dataDir} and does not stop; kill that process and start again`,
    );
  }
  await rm(runFileOf(dataDir), { force: true });
}

/** Writes the record; the returned functions only change or remove this same record. */
export async function announce(
  dataDir: string,
  server: Pick<RunRecord, 'serverPid' | 'kind' | 'uri' | 'description'>,
): Promise<{ stopping(): Promise<void>; remove(): Promise<void> }> {
  const record: RunRecord = {
    ...server,
    state: 'running',
    token: randomUUID(),
    host: hostname(),
    ownerPid: process.pid,
  };
  const isOurs = async (): Promise<boolean> => (await readRecord(dataDir))?.token === record.token;
  await writeRecord(dataDir, record);
  return {
    stopping: async () => {
      if (await isOurs()) await writeRecord(dataDir, { ...record, state: 'stopping' });
    },
    remove: async () => {
      if (await isOurs()) await rm(runFileOf(dataDir), { force: true });
    },
  };
}

async function waitForEnd(record: RunRecord, signal: AbortSignal | undefined): Promise<boolean> {
  if (await waitUntilGone(record.serverPid, CLOSING_MS, signal)) return true;
  // the pid belongs to another process by now; if not, the storage's own lock prevents a second server
  if (!(await answers(record))) return true;
  if (isAlive(record.ownerPid)) return waitUntilGone(record.serverPid, PATIENCE_MS, signal);
  // owner and watchdog were both killed, so nobody else can stop it
  signalQuietly(record.serverPid, 'SIGTERM');
  return waitUntilGone(record.serverPid, PATIENCE_MS, signal);
}

async function answers(record: RunRecord): Promise<boolean> {
  if (!isAlive(record.serverPid)) return false;
  return identify(record.uri, ANSWER_MS).then(
    ({ pid }) => pid === record.serverPid,
    () => false,
  );
}

const onThisHost = (record: RunRecord): boolean => record.host === hostname();

async function readRecord(dataDir: string): Promise<RunRecord | undefined> {
  try {
    return recordShape.parse(JSON.parse(await readFile(runFileOf(dataDir), 'utf8')));
  } catch {
    // missing or invalid: nothing to join
    return undefined;
  }
}

async function writeRecord(dataDir: string, record: RunRecord): Promise<void> {
  const draft = `${runFileOf(dataDir)}.${record.token}`;
  await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, runFileOf(dataDir));
}
