import type { Fault } from '../errors';
import { isPair, METADATA, type Pair } from '../schema/metadata';

/* What writes make of an object's metadata. A caller gives pairs in GraphQL, an object in REST (docs/decisions/metadata.md). */

type Members = Readonly<Record<string, unknown>>;

interface Change {
  readonly key: string;
  /** Null, or missing, removes the pair. */
  readonly value?: string | null;
}

function changesIn(pairs: unknown): readonly Change[] {
  if (Array.isArray(pairs)) return pairs as readonly Change[];
  return Object.entries(pairs as Readonly<Record<string, string | null>>).map(([key, value]) => ({ key, value }));
}

/** The stored pairs of a row; what another program stored among them that is no pair is left out. */
const pairsIn = (row: object | undefined): readonly Pair[] => {
  const pairs: unknown = (row as Members | undefined)?.[METADATA];
  return Array.isArray(pairs)
    ? (pairs as unknown[]).filter(isPair).map(({ key, value }) => ({ key, value: String(value) }))
    : [];
};

/** Faults of a valid change: the same key twice, which only pairs can have. */
export function metadataFaults({ [METADATA]: pairs }: Members): Fault[] {
  if (!Array.isArray(pairs)) return [];
  const keys = new Set<string>();
  return (pairs as readonly Change[]).flatMap(({ key }, index): Fault[] => {
    const isRepeated = keys.has(key);
    keys.add(key);
    const pointer = `/${METADATA}/${String(index)}/key`;
    return isRepeated ? [{ pointer, code: 'duplicate', detail: 'is the same as in an earlier pair' }] : [];
  });
}

/**
 * The row with its metadata changed: without the member if no pair is left. `before` is the stored row, whose metadata `row` still has; a new row,
 * without `before`, must have none yet.
 */
export function withMetadata<T extends object>(row: T, { [METADATA]: change }: Members, before: object | undefined): T {
  const changes = change === undefined || change === null ? [] : changesIn(change);
  if (change !== null && changes.length === 0) return row;
  const stored = pairsIn(before);
  const pairs = new Map(change === null ? [] : stored.map(({ key, value }) => [key, value]));
  for (const { key, value } of changes) {
    if (typeof value === 'string') pairs.set(key, value);
    else pairs.delete(key);
  }
  const isSame = pairs.size === stored.length && stored.every(({ key, value }) => pairs.get(key) === value);
  if (isSame) return row;
  const { [METADATA]: _before, ...others } = row as Members;
  if (pairs.size === 0) return others as T;
  return { ...others, [METADATA]: [...pairs].map(([key, value]) => ({ key, value })) } as unknown as T;
}

/** The fault of a row that has more pairs than an object may have, and than it had before. */
export function tooManyPairs(row: object, before: object | undefined, most: number): Fault[] {
  const count = pairsIn(row).length;
  if (count <= Math.max(most, pairsIn(before).length)) return [];
  const detail = `would have more than ${String(most)} pairs with those that are stored`;
  return [{ pointer: `/${METADATA}`, code: 'length', detail }];
}
