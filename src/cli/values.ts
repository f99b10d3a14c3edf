import { InvalidArgumentError } from 'commander';
import { parseRange, rangeFault } from '../auth/addresses';
import { nameFault, parseKey, prefixOf } from '../auth/keys';
import type * as Scopes from '../auth/scopes';
import type { Scope } from '../auth/scopes';
import { items } from '../config/lists';
import { KEY_CUSTOMERS } from '../limits';
import { statusesOf } from '../organisations/requestFilters';
import { isCurrency } from '../schema/currency';
import { DAY, HOUR, isRef, MINUTE, UUID } from '../units';

/* Parsers of arguments and options, which commander calls; each throws an InvalidArgumentError that says what is expected. */

/** Of names of organisations, keys and people, in characters, as in the SDL. */
const NAME_LENGTH = 200;

export function uuid(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('Expected a UUID, e.g. 689defbf-4477-4b15-966e-4830b650ded3.');
  return text.toLowerCase();
}

/** The id of a key, also from the key itself: whoever finds a leaked one has nothing else. */
export function keyId(text: string): string {
  return parseKey(text, prefixOf(text))?.id ?? uuid(text);
}

/** A name: one line, 1 to 200 characters. */
export function name(text: string): string {
  const trimmed = text.trim();
  if (Array.from(trimmed).length > NAME_LENGTH || nameFault(trimmed) !== undefined) {
    throw new InvalidArgumentError(
      `Expected one line of 1 to ${String(NAME_LENGTH)} characters, none of them invisible, without an API key.`,
    );
  }
  return trimmed;
}

/** The external_ref of an organisation: one line of visible characters, not trimmed, as long as one of the operator API and of organisation.json. */
export function externalRef(text: string): string {
  const fault = text.length > NAME_LENGTH ? `must have at most ${String(NAME_LENGTH)} characters` : nameFault(text);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}

export function currency(text: string): string {
  if (!isCurrency(text)) throw new InvalidArgumentError('Expected an ISO 4217 currency code, e.g. USD or EUR.');
  return text;
}

export function port(text: string): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number > 65535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535 (0 picks a free one).');
  return number;
}

let scopesOfSchema: typeof Scopes | undefined;

/** Called before every command: loads what reads the scopes of the schema for `key`, which takes and lists them, to keep the others fast. */
export async function loadScopes(_program: unknown, command: { name(): string }): Promise<void> {
  if (command.name() === 'key') scopesOfSchema = await import('../auth/scopes.js');
}

/** All scopes; none before {@link loadScopes}. */
export const scopeNames = (): readonly Scope[] => scopesOfSchema?.allScopes() ?? [];

const isScope = (text: string): text is Scope => scopesOfSchema?.isScope(text) === true;

/** Comma-separated scopes, or `all`. */
export function scopes(text: string): Scope[] {
  const entries = items(text);
  if (entries.length === 1 && entries[0] === 'all') return [...scopeNames()];
  const unknown = entries.filter((item) => !isScope(item));
  if (unknown.length > 0 || entries.length === 0) {
    const problem =
      unknown.length > 0
        ? `Unknown ${unknown.length === 1 ? 'scope' : 'scopes'}: ${unknown.join(', ')}.`
        : 'Expected at least one scope.';
    throw new InvalidArgumentError(`${problem} Scopes are ${scopeNames().join(', ')}, or all for every scope.`);
  }
  return [...new Set(entries.filter(isScope))];
}

/** Comma-separated customers of a key or webhook endpoint, each once: ids, or `ref:` and an external_ref. */
export function customerIds(text: string): string[] {
  const names = [...new Set(items(text))];
  const wrong = names.find((name) => !isRef(name) && !UUID.test(name));
  if (wrong !== undefined)
    throw new InvalidArgumentError(
      `Expected a UUID, or ref: and an external_ref, of each customer: ${wrong} is neither.`,
    );
  if (names.length > 0 && names.length <= KEY_CUSTOMERS) return names;
  throw new InvalidArgumentError(`Expected 1 to ${String(KEY_CUSTOMERS)} customers.`);
}

/** Comma-separated event types; the command checks that they exist, since that takes the schema. */
export function eventTypes(text: string): string[] {
  const entries = items(text);
  if (entries.length === 0) throw new InvalidArgumentError('Expected at least one type, e.g. order.created.');
  return [...new Set(entries)];
}

/** Comma-separated CIDR ranges or addresses, as ranges; `otherwise` says what to give for a key that works anywhere. */
function rangesOr(text: string, otherwise: string): string[] {
  const entries = text.split(',').map((item) => item.trim());
  return entries.map((item) => {
    const range = parseRange(item);
    if (range !== undefined) return range;
    const fault = item === '' ? RANGES : `${item} ${rangeFault(item)}.`;
    throw new InvalidArgumentError(`${fault} ${otherwise}`);
  });
}

const RANGES = 'Expected comma-separated addresses or CIDR ranges, e.g. 203.0.113.0/24,2001:db8::/32.';

export function ranges(text: string): string[] {
  return rangesOr(text, 'Without --allow it works from anywhere.');
}

/** Like {@link ranges}; an empty list for `anywhere`. */
export function rangesOrAnywhere(text: string): string[] {
  return text.trim() === 'anywhere' ? [] : rangesOr(text, 'To remove the restriction: --allow anywhere');
}

/** A date, meaning midnight UTC, or a time with its time zone. */
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

const A_DATE = 'a date (e.g. 2026-11-21)';
const A_TIME = 'a time with Z or an offset (e.g. 2026-11-21T09:00:00Z)';

/** An ISO 8601 date or time, or an age: that long before now. */
export function moment(text: string): Date {
  const age = lengthOf(text);
  const time = age === undefined ? timeOf(text) : new Date(Date.now() - age);
  if (time) return time;
  throw new InvalidArgumentError(
    `Expected ${A_DATE}, ${A_TIME} or an age: a number from 1 and m, h, d or y, e.g. 30m, 12h, 7d or 1y.`,
  );
}

/** An ISO 8601 date or time, for a command that must mean the same one when it is run again. */
export function fixedTime(text: string): Date {
  const time = timeOf(text);
  if (time) return time;
  throw new InvalidArgumentError(`Expected ${A_DATE} or ${A_TIME}; an age would mean another time at each run.`);
}

function timeOf(text: string): Date | undefined {
  const [, day] = ISO_TIME.exec(text) ?? [];
  // new Date() would take 30 February as 2 March
  return day !== undefined && isDay(day) ? new Date(text) : undefined;
}

/** Whether a day exists in the calendar. */
function isDay(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** An HTTP status such as 404, or a class of statuses such as 4xx. */
export function status(text: string): string {
  if (statusesOf(text)) return text;
  throw new InvalidArgumentError('Expected a status, e.g. 404, or a class of statuses, e.g. 4xx.');
}

/** A positive whole number. */
export function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 1 to 999999.');
}

const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, y: 365 * DAY };
/** In milliseconds; longer is a typing error. */
const LONGEST = 100 * 365 * DAY;

/** The length of 30m, 12h, 90d or 1y (365 days) in milliseconds; undefined for anything else. */
function lengthOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([mhdy])$/.exec(text) ?? [];
  const length = Number(count) * (UNITS[unit ?? ''] ?? Number.NaN);
  return length > 0 && length <= LONGEST ? length : undefined;
}

const DURATION = 'a duration: a number from 1 and m, h, d or y, e.g. 30m, 12h, 90d or 1y; at most 100y.';

/** How long an old key keeps working: a duration in milliseconds, or 0. */
export function overlap(text: string): number {
  const length = text === '0' ? 0 : lengthOf(text);
  if (length === undefined) throw new InvalidArgumentError(`Expected 0, to end the old key at once, or ${DURATION}`);
  return length;
}

/** Creates a parser of a key's lifetime, in milliseconds; its error ends with `otherwise`, which names the alternative. */
export function lifetime(otherwise: string): (text: string) => number {
  return (text) => {
    const length = lengthOf(text);
    if (length === undefined)
      throw new InvalidArgumentError(`Expected ${DURATION} Dates are not accepted. ${otherwise}`);
    return length;
  };
}
