import type { Config } from '../../config';
import { messageOf } from '../ending';
import type { Store } from '../store';

/** The result of one check. */
export interface Check extends CheckResult {
  readonly name: string;
  readonly ok: boolean;
}

export interface CheckResult {
  readonly detail: string;
  /** What to do about the failure or, if the check is ok, about the warning that `detail` gives. */
  readonly fix?: string | undefined;
  /** What `detail` counts. */
  readonly objects?: Objects | undefined;
}

/** What a check found, of which the first are named: an organisation's keys or webhook endpoints. */
export interface Objects {
  readonly count: number;
  readonly first: readonly ShownObject[];
}

export interface ShownObject {
  readonly kind: 'key' | 'endpoint';
  readonly id: string;
  readonly organisation_id: string;
  /** Of keys. */
  readonly name?: string;
  readonly prefix?: string;
  readonly last_four?: string;
  readonly last_used_at?: Date | null;
}

/** Passed to each check of an open database. */
export interface DoctorContext {
  readonly store: Store;
  readonly config: Config;
  /** Whether to create what is missing and drop what is no longer needed (--fix). */
  readonly fix: boolean;
  /** Other control databases, one of which was probably meant; empty if this one has organisations. */
  readonly controlsMeant: readonly string[];
  readonly signal: AbortSignal;
}

/** What to do about a check that only the database can keep from being made. */
export const RUN_AGAIN = 'run scopegate doctor again once the database responds';

/** Thrown by a check: a failure that has its own fix instead of its check's. */
export class Finding extends Error {
  constructor(
    detail: string,
    readonly fix: string,
    readonly objects?: Objects,
  ) {
    super(detail);
  }
}

/**
 * Runs a check. `work` returns the detail, with a fix if it is a warning, or undefined if there is nothing to say; if it throws, the check has
 * failed. Never throws.
 */
export async function examine<Result extends string | CheckResult | undefined>(
  name: string,
  fix: string,
  work: () => Promise<Result> | Result,
): Promise<Check | (Result & undefined)> {
  try {
    const result: string | CheckResult | undefined = await work();
    if (result === undefined) return result as Result & undefined;
    return { name, ok: true, ...(typeof result === 'string' ? { detail: result } : result) };
  } catch (error) {
    const finding = error instanceof Finding ? { fix: error.fix, objects: error.objects } : { fix };
    return { name, ok: false, detail: messageOf(error), ...finding };
  }
}
