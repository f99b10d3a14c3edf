import type { AuditEvent } from './auditRows';

/* Audit events as lines of the log, which `scopegate restored --replay` reads again (docs/decisions/restore.md). */

export const AUDIT_MESSAGE = 'audit event';

/** The action whose events have no line of their own: each is written by a request, which has one. */
export const WITHOUT_LINE = 'objects.written';

/**
 * The details that a line has: ids and states. Names, unless an id is made of one, network addresses of people and URLs are left out. A replay needs the first six
 * (cli/restored/plan.ts), people who read the log the others. `everywhere` is whose sessions ended: a user's id, or `everyone`.
 */
const SHOWN = ['customer_id', 'endpoint', 'user', 'everywhere', 'old_expires_at', 'reason', 'job', 'kind'] as const;
/** What a line says of a key that was changed. */
const SHOWN_OF_KEY = ['scopes', 'expires_at', 'allowed_ranges', 'mcp'] as const;

type Details = Readonly<Record<string, unknown>>;

/** @throws TypeError that names the member */
function requireObject(value: unknown, member: string): Details {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${member} is no object`);
  return value as Details;
}

function pick(details: Details, names: readonly string[]): Details {
  return Object.fromEntries(Object.entries(details).filter(([name]) => names.includes(name)));
}

function shownDetails({ action, details }: Pick<AuditEvent, 'action' | 'details'>): Details {
  const given = requireObject(details, 'details');
  const shown = pick(given, SHOWN);
  const { to } = given;
  if (action === 'organisation.plan_changed') return { ...shown, to };
  return action === 'key.updated' ? { ...shown, to: pick(requireObject(to, 'details.to'), SHOWN_OF_KEY) } : shown;
}

/** The line of a row. @throws TypeError naming what the row lacks: another program, or a later version, may have written it */
export function auditLine({ action, at, last_at, actor, organisation_id, key_id, details }: AuditEvent) {
  return {
    action,
    // of an event that was repeated, the last time may be after the backup that a replay begins at
    at: last_at ?? at,
    organisation_id,
    ...(key_id !== null && { key_id }),
    actor: requireObject(actor, 'actor').who,
    details: shownDetails({ action, details }),
  };
}
