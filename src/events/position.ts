import { createHash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { SECOND } from '../units';

/*
 * The position of an event in its organisation's feed: epoch (0, unless its id was used before, or an earlier version moved
 * it to another cluster), the database's logical time, and the change's ordinal at that time, as hexadecimal digits that sort in the order of
 * commits (docs/decisions/events.md).
 */

/** How many digits each has: positions that callers hold have these for good. */
const EPOCH = 4;
const TIME = 16;
const ORDINAL = 8;
export const POSITION = /^[0-9a-f]{28}$/;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** A cluster time as 16 digits: seconds, then the increment. */
export function timeDigits({ t, i }: Pick<mongo.Timestamp, 't' | 'i'>): string {
  return hex(t, TIME / 2) + hex(i, TIME / 2);
}

/** `time` is in {@link timeDigits}; the first change at a time has the ordinal 1, since 0 is for a gap before it. */
export function positionOf(epoch: number, time: string, ordinal: number): string {
  return hex(epoch, EPOCH) + time + hex(ordinal, ORDINAL);
}

/** The position after everything committed up to a time, in the epoch of another position. */
export function endOf(time: string, epochOf: string): string {
  return epochOf.slice(0, EPOCH) + time + 'f'.repeat(ORDINAL);
}

/** The position before everything of the hour, minute or second (`step` in milliseconds) that a position is in. */
export function beginningOf(position: string, step: number): string {
  const milliseconds = millisecondsOf(position);
  const seconds = (milliseconds - (milliseconds % step)) / SECOND;
  return position.slice(0, EPOCH) + hex(seconds, TIME / 2) + '0'.repeat(TIME / 2 + ORDINAL);
}

/** The cluster time of a position, in milliseconds since 1970. */
export function millisecondsOf(position: string): number {
  return parseInt(position.slice(EPOCH, EPOCH + TIME / 2), 16) * SECOND;
}

/** The id of an event: a UUID (version 8, RFC 9562) derived from its organisation and position. */
export function eventId(organisation: string, position: string): string {
  const bytes = createHash('sha256').update(`${organisation} ${position}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
