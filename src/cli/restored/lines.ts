import * as z from 'zod';
import { MCP_ACCESS } from '../../auth/principal';
import { AUDIT_MESSAGE } from '../../organisations/auditLine';
import { DISABLED_REASONS } from '../../organisations/webhookRows';
import { UUID } from '../../units';
import { CommandFailure } from '../ending';
import { jsonOf, ndjsonLines } from '../ndjson';

/* Audit events in a log: the lines that src/organisations/auditLine.ts makes, among others. */

/** The most events that are applied in one go; each is kept in memory, to be put in order. */
const MAX_EVENTS = 100_000;
/** The longest line of an audit event, in characters: one of a key with a thousand ranges is shorter. */
const LONGEST = 64 * 1024;

const id = z
  .string()
  .regex(UUID)
  .transform((text) => text.toLowerCase());
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const shape = z.object({
  msg: z.literal(AUDIT_MESSAGE),
  action: z.string(),
  at: time,
  organisation_id: id,
  key_id: id.optional(),
  actor: z.string(),
  details: z.object({
    /** Of `customer.erased` and `customer.readmitted`. */
    customer_id: id.optional(),
    /** Of changes of webhook endpoints. */
    endpoint: id.optional(),
    /** Of `webhook.disabled`; undefined for the reasons of other actions. */
    reason: z.enum(DISABLED_REASONS).optional().catch(undefined),
    /** Of `invitation.revoked`: the id that the invited person has. */
    user: z.string().optional(),
    /** Of `user.signed_out`: whose sessions all ended, the id of a user or `everyone`; without it, the actor ended one. */
    everywhere: z.string().optional(),
    /** Of `key.rotated`. */
    old_expires_at: time.optional(),
    /** Of `organisation.plan_changed` the plan; of `key.updated` the members of the key that changed. */
    to: z
      .union([
        z.string(),
        z.object({
          scopes: z.array(z.string()).optional(),
          expires_at: time.nullable().optional(),
          allowed_ranges: z.array(z.string()).optional(),
          mcp: z.enum(MCP_ACCESS).optional(),
        }),
      ])
      .optional(),
  }),
});

export type LoggedEvent = z.output<typeof shape>;

export interface LoggedEvents {
  /** Oldest first. */
  readonly events: readonly LoggedEvent[];
  readonly lines: {
    /** Lines that are not blank. */
    readonly read: number;
    /** Audit events from before the time. */
    readonly earlier: number;
    /** Audit events that cannot be read, and lines that cannot, since they may be such. */
    readonly malformed: number;
  };
}

/** The audit events in a log since a time. @throws CommandFailure if there are more than {@link MAX_EVENTS} */
export async function readEvents(path: string, since: Date, signal: AbortSignal): Promise<LoggedEvents> {
  const events: LoggedEvent[] = [];
  const lines = { read: 0, earlier: 0, malformed: 0 };
  for await (const { content } of ndjsonLines(path, signal)) {
    signal.throwIfAborted();
    lines.read += 1;
    const event = 'text' in content ? eventOf(content.text) : 'malformed';
    if (event === 'malformed') lines.malformed += 1;
    else if (event && event.at < since) lines.earlier += 1;
    else if (event) events.push(event);
    if (events.length > MAX_EVENTS)
      throw new CommandFailure(
        `${path} has more than ${MAX_EVENTS.toLocaleString('en')} audit events since ${since.toISOString()}; split it by time, and apply the parts oldest first`,
      );
  }
  return { events: events.toSorted((one, other) => one.at.getTime() - other.at.getTime()), lines };
}

/**
 * The audit event of a line of the log, which may follow a time; undefined for other lines, and for one that a collector of logs has put into JSON of
 * its own (docs/guides/operators.md).
 */
function eventOf(text: string): LoggedEvent | 'malformed' | undefined {
  if (!text.includes(`"msg":"${AUDIT_MESSAGE}"`)) return undefined;
  if (text.length > LONGEST) return 'malformed';
  const parsed = shape.safeParse(jsonOf(text.slice(text.indexOf('{'))));
  return parsed.success ? parsed.data : 'malformed';
}
