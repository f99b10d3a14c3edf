import { getNamedType, type GraphQLOutputType, type GraphQLSchema } from 'graphql';

/*
 * Metadata of objects (docs/decisions/metadata.md): a list of pairs in the database and in GraphQL, an object in REST, files and the
 * operator's feed.
 */

/** The member of a stored type, and the argument of its writes and its list. */
export const METADATA = 'metadata';
/** The field of GraphQL with the value of one key. */
export const METADATA_VALUE = 'metadata_value';
/** The type of its pairs in the SDL. */
export const PAIR = 'MetadataPair';
/** The scalar that stands for a list of pairs in answers of REST. */
export const PAIRS_SCALAR = 'Metadata';
/** The scalar that stands for metadata, or a change of it, in bodies of REST. */
export const CHANGES_SCALAR = 'MetadataChanges';

/** By the type in the SDL: the scalar that REST has in place of a list of it. */
export const METADATA_SCALARS: Readonly<Record<string, string>> = {
  [PAIR]: PAIRS_SCALAR,
  MetadataInput: CHANGES_SCALAR,
  MetadataChange: CHANGES_SCALAR,
};

/** The pattern of a pair's key in the SDL (a test compares them), for code that has no schema at hand. */
export const METADATA_KEY = /^[a-zA-Z0-9_.-]+$/;

export interface Pair {
  readonly key: string;
  readonly value: string;
}

/** Whether a field of this type is metadata. */
export function isMetadataType(type: GraphQLOutputType): boolean {
  const { name } = getNamedType(type);
  return name === PAIR || name === PAIRS_SCALAR;
}

/** Whether metadata is an object in the API of a schema, as in REST, instead of a list of pairs. */
export function hasObjects(schema: GraphQLSchema): boolean {
  return schema.getType(CHANGES_SCALAR) !== undefined;
}

/**
 * Stored pairs as an object, empty if there are none. Keys such as `__proto__` become members of its own, too. What is an object already is
 * returned as it is, and so is a list with anything but pairs, which another program stored: the check of the row (stored/invalidRows.ts) refuses it.
 */
export function metadataObject(stored: unknown): object {
  if (!Array.isArray(stored)) return (stored as object | null | undefined) ?? {};
  const pairs: readonly unknown[] = stored;
  if (!pairs.every(isPair)) return pairs;
  return Object.fromEntries(pairs.map(({ key, value }) => [key, String(value)]));
}

/** The index of the first pair whose key one before has; -1 if there is none. */
export function indexOfRepeatedKey(stored: unknown): number {
  if (!Array.isArray(stored)) return -1;
  const keys = new Set<unknown>();
  return (stored as readonly ({ readonly key?: unknown } | null)[]).findIndex(
    (pair) => keys.size === keys.add(String(pair?.key)).size,
  );
}

/** Whether it is a pair, whose value another program may have stored as a number or boolean. */
export const isPair = (pair: unknown): pair is { readonly key: string; readonly value: string | number | boolean } => {
  const { key, value } = (pair ?? {}) as Partial<Record<string, unknown>>;
  return typeof key === 'string' && ['string', 'number', 'boolean'].includes(typeof value);
};

/** An object as it is stored; undefined if it has no pairs. What is not an object stays as it is, for a check to refuse. */
export function metadataPairs(object: unknown): unknown {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return object ?? undefined;
  const pairs = Object.entries(object).map(([key, value]) => ({ key, value: value as unknown }));
  return pairs.length === 0 ? undefined : pairs;
}

/** The key and the value that a filter names, as `key:value`. There is a colon: the check of the schema refuses filters whose pattern takes a text without (checks/lists.ts). */
export function filteredPair(text: string): Pair {
  const at = text.indexOf(':');
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}

/** The value of a key of stored pairs; null if there is none. */
export function metadataValue(stored: unknown, key: string): string | null {
  const pairs: readonly unknown[] = Array.isArray(stored) ? stored : [];
  const pair = pairs.filter(isPair).find((candidate) => candidate.key === key);
  return pair ? String(pair.value) : null;
}
