import { join } from 'node:path';
import { statSync } from 'node:fs';
import * as z from 'zod';
import type { Fault, FaultCode } from '../../errors';
import { type KeyRecord, keyRecord } from '../../organisations/keyRecords';
import { CommandFailure, notFound } from '../ending';
import type { Store } from '../store';
import { jsonOf } from '../values';
import { KEYS_FILE, ndjsonLines } from '../records';
import { type FileReport, importFile, type ImportTarget } from './importPath';

const header = z.strictObject({
  pepper: z.strictObject({
    salt: z.base64().min(1).max(100),
    hash: z.base64().min(1).max(100),
    number: z.int().min(0).optional(),
  }),
});

/**
 * Checks keys.ndjson, and adopts its pepper's fingerprint if this installation has none yet. Resolves with what to add to the file's
 * pepper numbers to get those of this installation.
 * @throws CommandFailure if there is no such file, or its keys are hashed with another pepper
 */
export async function checkKeys({ control }: Store, folder: string): Promise<number> {
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
  const number = await control.pepper.adoptFrom(pepper);
  if (number === undefined) {
    throw new CommandFailure(
      `${path}: the keys are hashed with another KEY_PEPPER, so none of them would work: nothing was stored; set KEY_PEPPER to that of the installation they come from`,
    );
  }
  return number - (pepper.number ?? 0);
}

interface ImportKeys {
  readonly store: Store;
  /** KEY_PREFIX or, for a sandbox, KEY_PREFIX_TEST. */
  readonly prefix: string;
  readonly organisationId: string;
  /** The folder with keys.ndjson. */
  readonly folder: string;
  /** What checkKeys resolved with. */
  readonly raise: number;
}

/** Stores the keys of a checked file in batches. Keys that already exist are left unchanged. */
export function importKeys(
  { store, prefix, organisationId, folder, raise }: ImportKeys,
  target: Omit<ImportTarget, 'data'>,
): Promise<FileReport> {
  return importFile<KeyRecord>(
    join(folder, KEYS_FILE),
    {
      name: 'keys',
      // the line with the fingerprint
      heads: 1,
      read(content) {
        const fault = (pointer: string, code: FaultCode, detail: string) => ({ faults: [{ pointer, code, detail }] });
        const result = keyRecord.safeParse('text' in content ? jsonOf(content.text) : undefined);
        if (!result.success) {
          const [issue] = result.error.issues;
          return fault((issue?.path ?? []).map((step) => `/${String(step)}`).join(''), 'invalid', issue?.message ?? '');
        }
        const { pepper, ...key } = result.data;
        // the pepper's number in this installation
        const number = (pepper ?? 0) + raise;
        if (!key.prefix.startsWith(prefix))
          return fault('/prefix', 'not_allowed', `must start with ${prefix}; set KEY_PREFIX as it was`);
        if (number < 0) {
          const next = 'is older than any pepper of this installation; rotate the key where it comes from';
          return fault('/pepper', 'not_allowed', next);
        }
        return { record: number === 0 ? key : { ...key, pepper: number } };
      },
      async store(records) {
        const stored = await store.control.importKeys(organisationId, records);
        if (!stored) throw notFound('organisation', organisationId);
        const detail = 'is the id of a key of another organisation; revoke and create keys instead';
        const errors: Fault[] = [{ pointer: '/id', code: 'conflict', detail }];
        return stored.map((outcome) =>
          outcome === 'foreign' ? { outcome: 'failed', errors } : { outcome, errors: [] },
        );
      },
    },
    target,
  );
}
