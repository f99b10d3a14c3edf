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

/** The server that runs for a data folder, as its owner wrote it down. */
export type RunRecord = z.infer<typeof recordShape>;

/** A server that is ending closes its storage first, 0.1 to 2 s as measured. */
const CLOSING_MS = 5_000;
/** Longer than the watchdog's grace. */
const PATIENCE_MS = 20_000;
const ANSWER_MS = 5_000;

const runFileOf = (dataDir: string): string => join(dataDir, 'database.run.json');

/** The live server of this data folder, proved by asking it; undefined when there is none to join. */
export async function findRunning(dataDir: string): Promise<RunRecord | undefined> {
  const record = await readRecord(dataDir);
  // an orphan is about to be ended by its watchdog
  if (record?.state !== 'running' || !onThisHost(record) || !isAlive(record.ownerPid)) return undefined;
  return (await answers(record)) ? record : undefined;
}

/** Waits for a server that is ending, ends one that nobody owns, removes the stale file. Call it under the lock. */
export async function clearStale(dataDir: string, signal?: AbortSignal): Promise<void> {
  const record = await readRecord(dataDir);
  if (record && onThisHost(record) && !(await waitForEnd(record, signal))) {
    throw new DatabaseUnavailable(
      `a database server (process ${String(record.serverPid)}) still uses ${dataDir} and does not end; end that process and start again`,
    );
  }
  await rm(runFileOf(dataDir), { force: true });
}

/** Writes the record down; the functions it returns change and remove only this very record. */
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
  // the number belongs to another process by now; were it ours after all, the storage's own lock refuses a second server
  if (!(await answers(record))) return true;
  if (isAlive(record.ownerPid)) return waitUntilGone(record.serverPid, PATIENCE_MS, signal);
  // owner and watchdog were both killed: nobody else is left to end it
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
    // none, or not one of ours: nothing to join
    return undefined;
  }
}

async function writeRecord(dataDir: string, record: RunRecord): Promise<void> {
  const draft = `${runFileOf(dataDir)}.${record.token}`;
  await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, runFileOf(dataDir));
}
