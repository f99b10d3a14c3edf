/** The definition of a collection. */
export interface Collection<out T extends { readonly _id: string } = { readonly _id: string }> {
  readonly name: string;
  /** Those that it should have beside that on `_id`, which every collection has. */
  readonly indexes: readonly Index[];
  /** Names of indexes from earlier versions that no query needs any more; `doctor --fix` drops them. */
  readonly retired: readonly string[];
  /** MongoDB's $jsonSchema of its rows; undefined if it has none. */
  readonly schema?: object;
  /** Which rows keys restricted to customers have; without it they have no such collection. */
  readonly restriction?: Restriction;
  /** Never set; carries the type of a row. */
  readonly row?: T;
}

/** Which rows a key restricted to customers has (docs/decisions/restricted-keys.md). */
export type Restriction =
  /** All: they are nobody's. */
  | 'unrestricted'
  /** Those of its customers: the column with the customer's id. */
  | { readonly column: string }
  /** Those that are parts of an object which the key has: the column with the object's id, and the name of the object's collection. */
  | { readonly column: string; readonly owner: string }
  /** Those that match a condition, which it can read but not write. */
  | { readonly condition: (customerIds: readonly string[]) => object }
  /** None, and requests get 403 with this detail. */
  | { readonly refused: string };

/** Members of which no two rows may have the same value. */
export function uniqueMembers({ indexes }: Pick<Collection, 'indexes'>): string[] {
  return indexes.flatMap(({ on, options }) => {
    const members = Object.keys(on);
    // with several, rows differ in all of them together
    return options?.unique && members.length === 1 ? members : [];
  });
}

/** Members to exclude (0), or to include (1, then with `_id`). */
export type Projection = Readonly<Record<string, 0 | 1>>;

/** A projection with one more member, unless it is one that excludes members, and so has it already. */
export function including(projection: Projection, member: string): Projection {
  return projection._id === 1 ? { ...projection, [member]: 1 } : projection;
}

/** Without `search`, the words by which a row is found, which are never returned. */
export const WITHOUT_SEARCH: Projection = { search: 0 };

export interface Index {
  readonly on: Readonly<Record<string, 1 | -1>>;
  readonly options?: {
    /** By default the name MongoDB would choose. */
    readonly name?: string;
    readonly unique?: true;
    readonly sparse?: true;
    readonly partialFilterExpression?: object;
    readonly expireAfterSeconds?: number;
  };
}

/** Defines a collection, by the type of its rows. */
export function defineCollection<T extends { readonly _id: string }>(
  name: string,
  indexes: readonly Index[],
  retired: readonly string[] = [],
): Collection<T> {
  return { name, indexes, retired };
}
