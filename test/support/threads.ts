import { randomUUID } from 'node:crypto';
import type { ImportRecord } from '../../src/stored/records';

const FIRST_MOMENT = Date.UTC(1998, 0, 1);

/** A thread record with a message per body, one minute apart, newest first. */
export function threadRecord(bodies: readonly string[], members: Record<string, unknown> = {}): ImportRecord {
  const moments = bodies.map((_body, at) => new Date(FIRST_MOMENT + at * 60_000).toISOString());
  const messages = bodies.map((body, at) => ({
    id: randomUUID(),
    author: at % 2 === 0 ? 'customer' : 'organisation',
    author_name: null,
    body,
    created_at: moments[at],
  }));
  return {
    id: randomUUID(),
    subject: 'Thread',
    status: 'open',
    customer_id: null,
    contact: null,
    created_at: moments[0],
    updated_at: moments.at(-1),
    messages: messages.reverse(),
    ...members,
  };
}
