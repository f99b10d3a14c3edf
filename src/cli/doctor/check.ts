import type { Config } from '../../config';
import { messageOf } from '../ending';
import type { Store } from '../store';

/** The result of one check. */
export interface Check extends Found {
  readonly name: string;
  readonly ok: boolean;
}

export interface Found {
  readonly detail: string;
  /** What to do if it is not ok, or about a warning if it is. */
  readonly fix?: string | undefined;
}

/** Passed to each check of an open database. */
export interface DoctorContext {
  readonly store: Store;
  readonly config: Config;
  /** Whether to create what is missing. */
  readonly fix: boolean;
  readonly signal: AbortSignal;
}

/** A failure with a fix other than its check's. */
export class Finding extends Error {
  constructor(
    detail: string,
    readonly fix: string,
  ) {
    super(detail);
  }
}

/** The check's detail is what `look` returns, with a fix if it is a warning, or if it throws the error's message. */
export async function examine(
  name: string,
  fix: string,
  look: () => Promise<string | Found> | string | Found,
): Promise<Check> {
  try {
    const found = await look();
    return { name, ok: true, ...(typeof found === 'string' ? { detail: found } : found) };
  } catch (error) {
    return { name, ok: false, detail: messageOf(error), fix: error instanceof Finding ? error.fix : fix };
  }
}

/** The first names of many, and how many more there are. */
export function listed(names: readonly string[], most = 20): string {
  return names.slice(0, most).join(', ') + (names.length > most ? ` and ${String(names.length - most)} more` : '');
}
