import * as z from 'zod';
import { MCP_ACCESS } from '../../auth/principal';
import { AUDIT_MESSAGE } from '../../organisations/auditLine';
import { CommandFailure } from '../ending';
import { jsonOf, ndjsonLines } from '../ndjson';

/* Audit events in a log: the lines that src/organisations/auditLine.ts makes, among others. */

/** The most events that are applied in one go; each is kept in memory, to be put in order. */
const MAX_EVENTS = 100_000;
/** The longest line of an audit event, in characters. */
const LONGEST = 64 * 1024;

const id = z.uuid().transform((text) => text.toLowerCase());
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const shape = z.object({
  msg: z.literal(AUDIT_MESSAGE),
  action: z.string(),
  at: time,
  organisation_id: id,
  key_id: id.optional(),
  actor: z.string(),
  details: z.object({
    customer_id: id.optional(),
    endpoint: id.optional(),
    user: z.string().optional(),
    everywhere: z.string().optional(),
    old_expires_at: time.optional(),
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
    /** Audit events that cannot be read. */
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
    const event = 'text' in content ? eventOf(content.text) : undefined;
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

/** The audit event of a line; undefined for other lines. */
function eventOf(text: string): LoggedEvent | 'malformed' | undefined {
  if (text.length > LONGEST || !text.includes(`"msg":"${AUDIT_MESSAGE}"`)) return undefined;
  // what collects logs may have written a time before it
  const parsed = shape.safeParse(jsonOf(text.slice(text.indexOf('{'))));
  return parsed.success ? parsed.data : 'malformed';
}
