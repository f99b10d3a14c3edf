import { join } from 'node:path';
import { statSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../config';
import { type KeyRecord, keyRecord } from '../../organisations/keyRecords';
import { CommandFailure, notFound } from '../common/failure';
import type { Store } from '../common/open';
import { KEYS_FILE } from '../records/files';
import type { FileReport, ImportTarget } from './importFile';
import { ndjsonLines } from './ndjsonLines';

/** Keys per transaction. */
const BATCH = 500;

const header = z.strictObject({
  pepper: z.strictObject({
    salt: z.base64().min(1).max(100),
    hash: z.base64().min(1).max(100),
    number: z.int().min(0).optional(),
  }),
});

export interface ImportKeys extends Pick<ImportTarget, 'onFault' | 'signal'> {
  readonly store: Store;
  readonly config: Pick<Config, 'KEY_PREFIX'>;
  readonly organisationId: string;
  /** The folder with keys.ndjson. */
  readonly folder: string;
  /** What checkKeys resolved with. */
  readonly raise: number;
}

/**
 * Checks keys.ndjson, and makes its pepper's fingerprint that of this installation if it has none yet. Resolves with what the
 * numbers of its peppers are raised by here.
 * @throws CommandFailure if there is no such file, or its keys are hashed with another pepper
 */
export async function checkKeys({ store, folder }: Omit<ImportKeys, 'raise'>): Promise<number> {
  const path = join(folder, KEYS_FILE);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw new CommandFailure(`there is no ${path}; export with --keys, or import without it`);
  }
  let given: unknown;
  for await (const { content } of ndjsonLines(path)) {
    given = 'text' in content ? jsonOf(content.text) : undefined;
    break;
  }
  const first = header.safeParse(given);
  if (!first.success) throw new CommandFailure(`${path}:1: is not the fingerprint of a pepper; nothing was stored`);
  const { pepper } = first.data;
  const number = await store.control.pepper.adoptFrom(pepper);
  if (number === undefined) {
    throw new CommandFailure(
      `${path}: the keys are hashed with another KEY_PEPPER, so none of them would work: nothing was stored; set KEY_PEPPER to that of the installation they come from`,
    );
  }
  return number - (pepper.number ?? 0);
}

/** Stores the keys of a checked file in batches. Keys that are there already stay as they are. */
export async function importKeys(options: ImportKeys): Promise<FileReport> {
  const { store, config, organisationId, folder, raise, onFault, signal } = options;
  const path = join(folder, KEYS_FILE);
  const report: FileReport = { read: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const seen = new Set<string>();
  let batch: { readonly line: number; readonly record: KeyRecord }[] = [];

  function fail(line: number, pointer: string, code: string, detail: string): void {
    report.failed += 1;
    onFault({ path, line, pointer, code, detail });
  }

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const taken = batch;
    batch = [];
    const stored = await store.control.importKeys(
      organisationId,
      taken.map(({ record }) => record),
    );
    if (!stored) throw notFound('organisation', organisationId, 'see scopegate org list');
    stored.forEach((outcome, at) => {
      const detail = 'is the id of a key of another organisation; revoke and create keys instead';
      if (outcome === 'foreign') fail(taken[at]?.line ?? 0, '/id', 'conflict', detail);
      else report[outcome] += 1;
    });
  }

  let isFirst = true;
  for await (const { number: line, content } of ndjsonLines(path)) {
    if (isFirst) {
      isFirst = false;
      continue;
    }
    if (signal?.aborted) break;
    report.read += 1;
    const result = keyRecord.safeParse('text' in content ? jsonOf(content.text) : undefined);
    if (!result.success) {
      const [issue] = result.error.issues;
      fail(line, (issue?.path ?? []).map((step) => `/${String(step)}`).join(''), 'invalid', issue?.message ?? '');
    } else if (seen.has(result.data.id)) fail(line, '/id', 'duplicate', 'is already on an earlier line');
    else if (!result.data.prefix.startsWith(config.KEY_PREFIX)) {
      fail(line, '/prefix', 'not_allowed', `must start with ${config.KEY_PREFIX}; set KEY_PREFIX as it was`);
    } else if ((result.data.pepper ?? 0) + raise < 0) {
      fail(
        line,
        '/pepper',
        'not_allowed',
        'is older than any of this installation; rotate the key where it comes from',
      );
    } else {
      seen.add(result.data.id);
      batch.push({ line, record: raised(result.data, raise) });
      if (batch.length === BATCH) await flush();
    }
  }
  await flush();
  return report;
}

/** A key with the number that its pepper has here. */
function raised({ pepper, ...key }: KeyRecord, raise: number): KeyRecord {
  const number = (pepper ?? 0) + raise;
  return number === 0 ? key : { ...key, pepper: number };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
