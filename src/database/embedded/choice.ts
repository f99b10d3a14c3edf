import { DatabaseUnavailable, StartFailure, nothingWorks, reasonOf } from './failures';
import { memoryFileOf } from './memory';
import type { Chain, EmbeddedOptions, Link, Remembered, RunningServer, ServerPlan } from './types';

/** A started server and its plan. */
export interface Started {
  readonly plan: ServerPlan;
  readonly server: RunningServer;
}

type Attempt =
  | { readonly ok: true; readonly started: Started }
  | { readonly ok: false; readonly title: string; readonly reason: string };

/** Starts the remembered server, or the binary in MONGOD_BINARY, or the first in the chain that works. */
export function startOne(chain: Chain, remembered: Remembered | undefined, options: EmbeddedOptions): Promise<Started> {
  if (remembered) return startRemembered(chain, remembered, options);
  return options.mongodBinary === undefined
    ? startFirst(chain, options)
    : startNamed(chain, options.mongodBinary, options);
}

async function startFirst(chain: Chain, options: EmbeddedOptions): Promise<Started> {
  const failed: { title: string; reason: string }[] = [];
  for (const link of chain.links) {
    const attempt = await tryLink(chain, link, undefined, options);
    if (attempt.ok) return attempt.started;
    options.report(`database: ${attempt.title}: ${attempt.reason.split('\n', 1).join('')}`);
    failed.push(attempt);
  }
  throw nothingWorks(failed);
}

/** Tries nothing else, because the user chose the binary. */
async function startNamed(chain: Chain, named: string, options: EmbeddedOptions): Promise<Started> {
  const attempt = await tryLink(chain, binaryOf(chain), undefined, options);
  if (attempt.ok) return attempt.started;
  throw new DatabaseUnavailable(`MONGOD_BINARY is ${named}, which cannot be used: ${attempt.reason}`);
}

/** Tries nothing else, because another server would start empty, and the user's data would seem lost. */
async function startRemembered(chain: Chain, remembered: Remembered, options: EmbeddedOptions): Promise<Started> {
  const link = chain.links.find(({ kind }) => kind === remembered.kind);
  if (!link) throw new DatabaseUnavailable(`cannot start a database of the kind ${remembered.kind}`);
  if (options.mongodBinary !== undefined && remembered.kind !== 'binary') throw otherProgram(remembered, options);
  const attempt = await tryLink(chain, link, remembered, options);
  if (attempt.ok) return attempt.started;
  throw new DatabaseUnavailable(
    `the data in ${options.dataDir}/${remembered.storage} was created with ${remembered.program} ${remembered.version} (${link.title}), which cannot be started now: ${attempt.reason}\n${startOver(remembered, options)}`,
  );
}

async function tryLink(
  chain: Chain,
  link: Link,
  remembered: Remembered | undefined,
  options: EmbeddedOptions,
): Promise<Attempt> {
  options.signal?.throwIfAborted();
  const offer = await link.offer(options, remembered);
  if (!offer.found) return { ok: false, title: link.title, reason: offer.reason };
  if (remembered && offer.plan.program !== remembered.program) throw otherProgram(remembered, options);
  try {
    return {
      ok: true,
      started: { plan: offer.plan, server: await chain.start(offer.plan, options, remembered?.port) },
    };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return { ok: false, title: link.title, reason: reasonOf(error) };
  }
}

function otherProgram(remembered: Remembered, options: EmbeddedOptions): DatabaseUnavailable {
  return new DatabaseUnavailable(
    `${options.mongodBinary === undefined ? 'the binary found' : `MONGOD_BINARY is ${options.mongodBinary}`}, but the data in ${options.dataDir}/${remembered.storage} was created with ${remembered.program} ${remembered.version}, and may not be readable by another program.\n` +
      `Leave MONGOD_BINARY unset to keep using the data. ${startOver(remembered, options)}`,
  );
}

function startOver(remembered: Remembered, { dataDir }: EmbeddedOptions): string {
  return `To start over with another database, delete ${memoryFileOf(dataDir)} (the data stays in ${dataDir}/${remembered.storage}), or set DATA_DIR to another folder.`;
}

function binaryOf(chain: Chain): Link {
  const link = chain.links.find(({ kind }) => kind === 'binary');
  if (!link) throw new DatabaseUnavailable('MONGOD_BINARY cannot be used here');
  return link;
}
