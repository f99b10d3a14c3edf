import { type Fault, type Findings, shorten } from '../../errors';
import { brokenTexts } from './brokenTexts';
import { comparable } from '../../schema/compared';

/* What is wrong with the elements of a bulk call, and how much of it an answer lists. */

/** Faults that are listed of one element, and of a call; the rest is counted. An answer then fits in one document. */
const LISTED_OF_ELEMENT = 10;
export const LISTED_OF_CALL = 100;

/** Characters of a caller's own text that an answer repeats: any sound key, and enough of a member's name to find it. */
const REPEATED_KEY = 64;
const REPEATED_POINTER = 120;

/** An element as it was judged before anything was looked up. */
export interface Judged {
  /** Its place in the call: /products/3. */
  readonly at: string;
  /** As sent, but its key as it is kept. */
  readonly element: unknown;
  /** The key as it is kept; null where there is no text for one. */
  readonly key: string | null;
  /** The key as an answer repeats it. */
  readonly shownKey: string | null;
  /** The first of its faults: no answer lists more. */
  readonly faults: readonly Fault[];
  /** How many it has. */
  readonly count: number;
}

interface Keyed {
  /** Name of the list in the call. */
  readonly list: string;
  /** The member that names an object: sku, external_ref. */
  readonly key: string;
}

/** Elements that are judged in one go: the worst take half a millisecond each. */
const ELEMENTS_OF_PIECE = 200;

/** Judges every element by itself, and its key by those before it. Between pieces it waits for `giveWay`. */
export async function judge(
  elements: readonly unknown[],
  { list, key: member }: Keyed,
  check: (element: unknown) => Findings,
  giveWay: () => Promise<void>,
): Promise<Judged[]> {
  const seen = new Map<string, number>();
  const judged: Judged[] = [];
  for (const [index, sent] of elements.entries()) {
    if (index > 0 && index % ELEMENTS_OF_PIECE === 0) await giveWay();
    const one = judgeOne(sent, `/${list}/${String(index)}`, member, check);
    const first = one.key === null ? undefined : seen.get(one.key);
    if (one.key !== null && first === undefined) seen.set(one.key, index);
    judged.push(first === undefined ? one : asRepeated(one, member, first));
  }
  return judged;
}

function judgeOne(sent: unknown, at: string, member: string, check: (element: unknown) => Findings): Judged {
  const sentKey = isObject(sent) ? sent[member] : undefined;
  if (!isObject(sent) || typeof sentKey !== 'string') {
    return { at, element: sent, key: null, shownKey: null, ...faultsOf(sent, at, check) };
  }
  const key = comparable(sentKey);
  const element = key === sentKey ? sent : { ...sent, [member]: key };
  return { at, element, key, shownKey: shortened(sentKey, REPEATED_KEY), ...faultsOf(element, at, check) };
}

function asRepeated(one: Judged, member: string, first: number): Judged {
  const detail = `is the same as in element ${String(first)} of this call`;
  return withFaults(one, [{ pointer: `${one.at}/${member}`, code: 'duplicate', detail }]);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function hasFaultAt(faults: readonly Fault[], pointer: string): boolean {
  return faults.some((fault) => fault.pointer === pointer);
}

type Faults = Pick<Judged, 'faults' | 'count'>;

/** What has faults, with further ones behind them. */
export function withFaults<T extends Faults>(judged: T, more: readonly Fault[]): T {
  if (more.length === 0) return judged;
  return { ...judged, faults: [...judged.faults, ...more], count: judged.count + more.length };
}

function faultsOf(element: unknown, at: string, check: (element: unknown) => Findings): Faults {
  const { faults: broken, more } = check(element);
  const found = [...broken, ...brokenTexts(element)];
  const faults = found.slice(0, LISTED_OF_CALL).map((fault) => ({
    ...fault,
    pointer: at + shortened(fault.pointer ?? '', REPEATED_POINTER),
  }));
  return { faults, count: found.length + more };
}

/** A caller's text of bounded length, without halves of characters: a database would keep others in their place. */
function shortened(text: string, most: number): string {
  const cut = shorten(text, most);
  // half of an escape is no pointer
  return cut === text ? text.toWellFormed() : cut.replace(/~…$/, '…');
}

/** Gives each element's faults, in the order of the call, as the answer lists them. */
export function faultLister(): (judged: Judged) => readonly Fault[] {
  let left = LISTED_OF_CALL;
  return ({ at: pointer, faults, count: all }) => {
    const room = Math.min(left, LISTED_OF_ELEMENT);
    left -= Math.min(room, all);
    const rest = all - room;
    if (rest <= 0) return faults;
    const count = `${String(rest)}${room > 0 ? ' more' : ''} ${rest === 1 ? 'fault' : 'faults'}`;
    const detail = room > 0 ? count : `${count}, not listed: a call lists at most ${String(LISTED_OF_CALL)}`;
    return [...faults.slice(0, room), { pointer, code: 'more', detail }];
  };
}
