import { join } from 'node:path';
import * as z from 'zod';
import type { Fault, FaultCode } from '../../errors';
import { type KeyRecord, keyRecord } from '../../organisations/keyRecords';
import { FINGERPRINT } from '../../organisations/pepper';
import { CommandFailure, notFound } from '../ending';
import type { Store } from '../store';
import { jsonOf, ndjsonLines, UNREADABLE } from '../ndjson';
import { KEYS_FILE, requireFile } from '../records';
import { type FileReport, importFile, type ImportReporter } from './importFile';

const FINGERPRINT_FAULT = `must be ${String(FINGERPRINT)} bytes in base64`;
const header = z.strictObject({
  pepper: z.strictObject({
    salt: z.base64().min(1).max(100),
    hash: z.base64().refine((hash) => Buffer.from(hash, 'base64').length === FINGERPRINT, FINGERPRINT_FAULT),
    number: z.int().min(0).optional(),
  }),
});

/*
 * keys.ndjson: a line with the fingerprint of the KEY_PEPPER of the installation it comes from, then a line per key. An installation numbers its
 * peppers, from 0 for the first, and each key has the number of the one that it is hashed with. Only KEY_PEPPER and KEY_PEPPER_PREVIOUS make keys
 * work, and the export numbers those as neighbours, so one offset takes both to their numbers here; keys of older ones work neither there nor here.
 */

/**
 * Checks the first line of keys.ndjson, and stores its fingerprint if this installation has none yet. Resolves with the pepper offset: what to
 * add to a pepper number of the file to get that of the same pepper here, where more or fewer may have been replaced.
 * @throws CommandFailure if there is no such file, or its keys are hashed with another pepper; WrongPepperError if those of this installation are
 */
export async function adoptPepper({ control }: Store, folder: string): Promise<number> {
  const path = requireFile(folder, KEYS_FILE);
  let given: unknown;
  for await (const { content } of ndjsonLines(path)) {
    given = 'text' in content ? jsonOf(content.text) : undefined;
    break;
  }
  const first = header.safeParse(given);
  if (!first.success) {
    const { pointer, detail } = faultOf(first.error);
    const why = `${pointer ?? ''} ${detail}`.trim();
    throw new CommandFailure(`${path}:1: is not the fingerprint of a pepper (${why}); nothing was stored`);
  }
  const { pepper } = first.data;
  const numberHere = await control.pepper.adoptFrom(pepper);
  if (numberHere === undefined) {
    throw new CommandFailure(
      `${path}: the keys are hashed with another KEY_PEPPER, so none of them would work: nothing was stored; set KEY_PEPPER, or KEY_PEPPER_PREVIOUS, to that of the installation they come from`,
    );
  }
  return numberHere - (pepper.number ?? 0);
}

interface ImportKeys {
  readonly store: Store;
  /** What its keys must begin with, and the variable that says so. */
  readonly prefix: { readonly variable: 'KEY_PREFIX' | 'KEY_PREFIX_TEST'; readonly value: string };
  readonly organisationId: string;
  /** The folder with keys.ndjson. */
  readonly folder: string;
  /** What {@link adoptPepper} resolved with. */
  readonly pepperOffset: number;
}

/** Stores the keys of a file in batches, and reports invalid lines to `reporter`. Keys that already exist are left unchanged. */
export function importKeys(
  { store, prefix, organisationId, folder, pepperOffset }: ImportKeys,
  reporter: ImportReporter,
): Promise<FileReport> {
  return importFile<KeyRecord>(
    join(folder, KEYS_FILE),
    {
      name: 'keys',
      // the fingerprint
      linesToSkip: 1,
      read(content) {
        const fault = (pointer: string, code: FaultCode, detail: string) => ({ faults: [{ pointer, code, detail }] });
        if ('fault' in content) return { faults: [UNREADABLE[content.fault]] };
        const result = keyRecord.safeParse(jsonOf(content.text));
        if (!result.success) return { faults: [faultOf(result.error)] };
        const { pepper, ...key } = result.data;
        const number = (pepper ?? 0) + pepperOffset;
        if (!key.prefix.startsWith(prefix.value))
          return fault('/prefix', 'not_allowed', `must start with ${prefix.value}; set ${prefix.variable} as it was`);
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
    reporter,
  );
}

/** The first thing that is wrong with a line. */
export function faultOf({ issues: [issue] }: z.ZodError): Fault {
  const pointer = (issue?.path ?? []).map((step) => `/${String(step)}`).join('');
  return { pointer, code: 'invalid', detail: issue?.message ?? '' };
}
