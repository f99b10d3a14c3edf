import type { Fault } from '../errors';
import { fractionOf, isDigit, numberAround, seemsWhole } from '../schema/inexactNumbers';
import { escapePointer } from '../schema/validation';

/*
 * Checks JSON text before it is parsed: JSON.parse keeps the last of two members with the same name, rounds fractions away, and takes seconds
 * for 5 MiB of distinct names (docs/decisions/worst-bodies.md).
 */

export interface JsonBounds {
  /** Levels of nested lists and objects, so that recursive code does not overflow the stack later. */
  readonly depth: number;
  readonly containers: number;
  readonly names: number;
  /** Members beyond the 100th of their object, in all objects together. */
  readonly wideMembers: number;
  /** Members of all distinct sequences of names, each counted from where it first differs: JSON.parse creates a hidden class for each. */
  readonly orderMembers: number;
  /** Numbers with a fraction that a double does not hold. */
  readonly inexactNumbers: number;
}

/**
 * Far above any valid body: 1,000 customers with 100 contacts each are 103,001 containers, and if the members of every customer,
 * address and contact are in random order, these are at most 14,912 `orderMembers` (docs/decisions/worst-bodies.md).
 */
export const BODY_BOUNDS: JsonBounds = {
  depth: 64,
  containers: 250_000,
  names: 20_000,
  wideMembers: 20_000,
  orderMembers: 20_000,
  inexactNumbers: 20_000,
};

/** Members beyond which an object is wide: more than any type of the API has. */
const WIDE = 100;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];
const [DOT, SMALL_E, LARGE_E] = [46, 101, 69];

/** The structural fault of a JSON text, or else the text to parse. */
export type Checked = { readonly fault: Fault } | { readonly fault?: undefined; readonly text: string };

export function checkedJson(text: string, bounds: JsonBounds = BODY_BOUNDS): Checked {
  const check = checkJson(text, bounds);
  for (;;) {
    const { done, value } = check.next();
    if (done) return value;
  }
}

/** Checks a text in one pass, in pieces. Of the result for a text that is not valid JSON only this is certain, that it is not valid either. */
export function* checkJson(text: string, bounds: JsonBounds = BODY_BOUNDS): Generator<undefined, Checked> {
  const inexact: Span[] = [];
  const fault = yield* searchFault(text, bounds, inexact);
  if (fault) return { fault };
  if (inexact.length === 0) return { text };
  const parts: string[] = [];
  let reached = 0;
  for (const { start, end } of inexact) {
    parts.push(text.slice(reached, start), fractionOf(text.slice(start, end)));
    reached = end;
  }
  return { text: parts.join('') + text.slice(reached) };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters to scan before yielding to other requests: about 15 ms with the worst text. */
const PIECE = 512 * 1024;

/**
 * Looks for the first structural fault of a JSON text: `duplicate` for a repeated member name, `depth` or `size` beyond the bounds. Notes the
 * numbers that would be rounded to whole ones.
 */
function* searchFault(text: string, bounds: JsonBounds, inexact: Span[]): Generator<undefined, Fault | undefined> {
  // by name: the last object with this name at each depth, which is enough, since objects at one depth do not overlap
  const names = new Map<string, Name>();
  const orders = createOrders(bounds.names);
  // by depth: which object it is, counted from 1 (0 for a list), how many members it has, their order so far (a sequence of createOrders), and
  // the current name or index
  const objects: number[] = [];
  const counts: number[] = [];
  const reached: number[] = [];
  const path: (string | number)[] = [];
  let [depth, objectsSoFar, containers, wide] = [-1, 0, 0, 0];
  let awaitsName = false;
  let endOfPiece = PIECE;
  for (let at = 0; at < text.length; at += 1) {
    if (at > endOfPiece) {
      endOfPiece = at + PIECE;
      yield;
    }
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = closingQuote(text, at);
        if (awaitsName) {
          awaitsName = false;
          const name = nameAt(text, at, end);
          path[depth] = name;
          let known = names.get(name);
          if (!known) {
            if (names.size === bounds.names)
              return boundFault(`has more than ${count(bounds.names)} distinct member names`);
            names.set(name, (known = { number: names.size + 1, last: [] }));
          }
          const { number, last } = known;
          reached[depth] = orders.after(reached[depth] ?? 0, number);
          if (orders.members() > bounds.orderMembers) {
            const most = count(bounds.orderMembers);
            return boundFault(`has its members in too many different orders, of more than ${most} members together`);
          }
          const object = objects[depth] ?? 0;
          if (last[depth] === object) return { pointer: pointerTo(path, depth), code: 'duplicate', detail: TWICE };
          last[depth] = object;
          const members = (counts[depth] ?? 0) + 1;
          counts[depth] = members;
          if (members > WIDE && ++wide > bounds.wideMembers) {
            return boundFault(
              `has more than ${count(bounds.wideMembers)} members beyond the ${count(WIDE)}th of their objects`,
            );
          }
        }
        at = end;
        break;
      }
      case DOT:
      case SMALL_E:
      case LARGE_E: {
        // not the e of true or false
        if (!isDigit(text.charCodeAt(at - 1))) break;
        const [start, end] = numberAround(text, at);
        if (seemsWhole(text.slice(start, end))) {
          if (inexact.length === bounds.inexactNumbers)
            return boundFault(
              `has more than ${count(bounds.inexactNumbers)} numbers with more digits than can be held`,
            );
          inexact.push({ start, end });
        }
        at = end - 1;
        break;
      }
      case COMMA:
        if ((objects[depth] ?? 0) > 0) awaitsName = true;
        else path[depth] = Number(path[depth]) + 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST: {
        awaitsName = text.charCodeAt(at) === OPEN_OBJECT;
        depth += 1;
        if (depth === bounds.depth) {
          const detail = `is nested more than ${count(bounds.depth)} levels deep`;
          return { pointer: pointerTo(path, depth - 1), code: 'depth', detail };
        }
        if (++containers > bounds.containers) {
          return boundFault(`has more than ${count(bounds.containers)} lists and objects`);
        }
        objects[depth] = awaitsName ? ++objectsSoFar : 0;
        counts[depth] = 0;
        reached[depth] = 0;
        path[depth] = 0;
        break;
      }
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        awaitsName = false;
        depth -= 1;
        break;
    }
  }
  return undefined;
}

/** The distinct sequences of names, as a tree: exact, whereas hashes could be made to collide. 0 is the empty sequence. */
function createOrders(mostNames: number) {
  // by sequence: the name that last followed it, and the sequence this made; most objects have the same order as the one before
  const names: number[] = [0];
  const nexts: number[] = [0];
  const others = new Map<number, number>();
  return {
    after(sequence: number, name: number): number {
      if (names[sequence] === name) return nexts[sequence] ?? 0;
      const key = sequence * (mostNames + 1) + name;
      let next = others.get(key);
      if (next === undefined) {
        next = names.length;
        others.set(key, next);
        names.push(0);
        nexts.push(0);
      }
      names[sequence] = name;
      nexts[sequence] = next;
      return next;
    },
    members: (): number => names.length - 1,
  };
}

interface Name {
  /** Counted from 1, in the order in which names occur. */
  readonly number: number;
  /** By depth: the last object that has it. */
  readonly last: number[];
}

const TWICE = 'appears twice in one object';

/** Index of the quote that closes a string; the length of the text if there is none. */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** The name of a member between two quotes; as written if its escapes are invalid. */
function nameAt(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end);
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

function pointerTo(path: readonly (string | number)[], depth: number): string {
  return path
    .slice(0, depth + 1)
    .map((token) => `/${escapePointer(String(token))}`)
    .join('');
}

function boundFault(detail: string): Fault {
  return { pointer: '', code: 'size', detail };
}

function count(number: number): string {
  return number.toLocaleString('en');
}
