import type { Writer } from '../tenant/slots';

export interface Origin {
  readonly kind: 'key' | 'user' | 'operator' | 'other';
  /** Of a key or user. */
  readonly id: string | null;
  /** Of an operator's token; null for the command line. */
  readonly name: string | null;
}

/** The origin as callers see it, of a writer such as `key:<id>` or `operator`; null if it is not known. */
export function shownOrigin(stored: Writer | undefined): Origin | null {
  if (stored === undefined) return null;
  const at = stored.indexOf(':');
  const kind = (at < 0 ? stored : stored.slice(0, at)) as Origin['kind'];
  const who = at < 0 ? null : stored.slice(at + 1);
  return kind === 'operator' ? { kind, id: null, name: who } : { kind, id: who, name: null };
}
