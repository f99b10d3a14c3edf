import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord, writeRecord } from './recordFile';
import {
  type Chain,
  DatabaseUnavailable,
  type EmbeddedOptions,
  type Remembered,
  rememberedShape,
  type RunningServer,
  type ServerPlan,
  Unusable,
} from './types';

/** A started server and its plan. */
export interface Started {
  readonly plan: ServerPlan;
  readonly server: RunningServer;
}

const memoryFileOf = (dataDir: string): string => join(dataDir, 'database.json');

/** The server that created the data in this folder; undefined on the first start. */
export async function recall(dataDir: string): Promise<Remembered | undefined> {
  const file = memoryFileOf(dataDir);
  const remembered = await readRecord(file, rememberedShape);
  if (remembered || !existsSync(file)) return remembered;
  // guessing could start an empty database next to the user's data
  throw new DatabaseUnavailable(
    `${file}, which records the server that created the data, cannot be read; fix it, or delete it to choose a database again`,
  );
}

export function remember(dataDir: string, choice: Remembered): Promise<void> {
  return writeRecord(memoryFileOf(dataDir), rememberedShape.parse(choice));
}

/**
 * Starts the remembered server, or the binary in MONGOD_BINARY, or the first in the chain that works. In the first two cases
 * nothing else is tried: another server would start empty, and the user's data would seem lost; the user chose the binary.
 */
export async function startOne(
  chain: Chain,
  remembered: Remembered | undefined,
  options: EmbeddedOptions,
): Promise<Started> {
  const { MONGOD_BINARY: named, report, signal } = options;
  if (named && remembered && remembered.kind !== 'binary') throw otherProgram(remembered, options);
  const only = remembered?.kind ?? (named ? 'binary' : undefined);
  const failed: string[] = [];
  for (const link of chain.links) {
    const { kind, title } = link;
    if (only !== undefined && kind !== only) continue;
    signal?.throwIfAborted();
    try {
      const plan = await link.offer(options, remembered);
      if (remembered && plan.program !== remembered.program) throw otherProgram(remembered, options);
      return { plan, server: await chain.start(plan, options, remembered?.port) };
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      const { message: reason } = error;
      if (remembered) {
        throw new DatabaseUnavailable(
          `${createdWith(remembered, options)} (${title}), which cannot be started now: ${reason}\n${startOver(remembered, options)}`,
        );
      }
      if (named) throw new DatabaseUnavailable(`MONGOD_BINARY is ${named}, which cannot be used: ${reason}`);
      report(`database: ${title}: ${reason.split('\n', 1).join('')}`);
      failed.push(`${title}: ${reason.replaceAll('\n', '\n     ')}`);
    }
  }
  throw nothingWorks(failed);
}

/** Lists every link with its reason, so that the user can fix the easiest one. */
function nothingWorks(failed: readonly string[]): DatabaseUnavailable {
  const tried = ['MONGODB_URI: not set', ...failed].map((line, index) => `  ${String(index + 1)}. ${line}`);
  return new DatabaseUnavailable(
    [
      'no database could be started. Tried, in this order:',
      ...tried,
      'To fix this, do one of these:',
      '  - set MONGODB_URI to a MongoDB replica set, for example one started by `docker compose up -d mongo`',
      '  - install mongod (https://www.mongodb.com/docs/manual/installation/), or set MONGOD_BINARY to its path',
      '  - allow access to fastdl.mongodb.org, from which mongod is downloaded once',
      '  - install Python 3.10 to 3.13 with its venv module, and allow access to PyPI',
    ].join('\n'),
  );
}

function otherProgram(remembered: Remembered, options: EmbeddedOptions): DatabaseUnavailable {
  const found = options.MONGOD_BINARY ? `MONGOD_BINARY is ${options.MONGOD_BINARY}` : 'the binary found';
  return new DatabaseUnavailable(
    `${found}, but ${createdWith(remembered, options)}, and may not be readable by another program.\n` +
      `Leave MONGOD_BINARY unset to keep using the data. ${startOver(remembered, options)}`,
  );
}

const createdWith = ({ storage, program, version }: Remembered, { DATA_DIR }: EmbeddedOptions): string =>
  `the data in ${DATA_DIR}/${storage} was created with ${program} ${version}`;

const startOver = ({ storage }: Remembered, { DATA_DIR }: EmbeddedOptions): string =>
  `To start over with another database, delete ${memoryFileOf(DATA_DIR)} (the data stays in ${DATA_DIR}/${storage}), or set DATA_DIR to another folder.`;
