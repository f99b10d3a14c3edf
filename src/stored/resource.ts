import type { ClientSession } from 'mongoose';
import { type Collection, defineCollection, type Projection, WITHOUT_SEARCH } from '../mongo/collection';
import type { OrganisationData } from '../tenant/organisationData';
import type { Fault } from '../errors';
import { METADATA } from '../schema/metadata';
import { published } from '../schema/model';
import { restrictionOf } from '../schema/restricted';
import type { StoredMember } from '../schema/storedTypes';
import { type Checked, faultsOf } from './invalidRows';
import { defaultsOf } from './merge';
import { repeatedIds } from './parts';
import { createDocumentKind, type ImportRecord, type RecordKind, type RecordRules } from './records';
import { searchWords } from './search';
import { type BsonSchema, storedSchema } from './storedSchema';

/* A resource: the collection, search, import and export of a stored type, derived from the SDL. */

/** A row as stored: its id is `_id`, and `search` has its search words. */
export interface Row {
  readonly _id: string;
}

export interface Resource<out T extends Row = Row> extends Collection<T>, Checked {
  /** The projection without the members that lists omit. Always the same object, since reads are batched by it. */
  readonly projection: Projection;
  /** The search words of a row's own texts. */
  readonly words: (row: object) => string[];
  readonly schema: BsonSchema;
  /** Members that the gateway computes from other rows, and fills in for other programs. */
  readonly computed: readonly string[];
  readonly derive: Derive;
  /** How it is imported and exported; undefined if it has {@link ResourceSpec.hasRecordsByHand}. */
  readonly records: RecordKind | undefined;
  /** What members are that a write leaves out, from @default. */
  readonly defaults: (organisation: { readonly currency: string }) => Readonly<Record<string, unknown>>;
  readonly summary: Summary | undefined;
  readonly gatewayIds: ResourceSpec['gatewayIds'];
  /** Checks that span several of the members given in a write; pointers are relative to the object. */
  readonly elementRules: (input: Readonly<Record<string, unknown>>) => readonly Fault[];
  /** Rules across the members of a whole record, if there are any. */
  readonly rules: RecordRules['rules'];
  /** The most pairs of metadata that an object has. */
  readonly mostPairs: number;
}

/** How the rows of a resource sum up the rows of another that belong to them, as threads do their messages, in writes of operators (writes/). */
export interface Summary {
  /** Completes a new row, to which none belongs yet. */
  readonly begin: (row: Row) => Row;
  /** The row when another one belongs to it. */
  readonly add: (row: Row, part: Row) => Row;
  /** The row after some that belong to it, as they were in `formerParts`, have changed or are gone. */
  readonly renew: (
    data: OrganisationData,
    row: Row,
    formerParts: readonly Row[],
    session: ClientSession,
  ) => Promise<Row>;
}

/** Texts of objects' parts, such as the messages of threads, by the object's id. */
export type Texts = ReadonlyMap<string, readonly string[]>;

/**
 * The search words and computed members that rows should have: an object for each row, in their order, or none at all if the type has neither.
 * `texts` are those of parts that changed, whose words are added; without it all parts are read.
 */
type Derive = (
  data: OrganisationData,
  rows: readonly Row[],
  texts?: Texts,
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What the SDL cannot say of a stored type. */
export interface ResourceSpec extends RecordRules {
  /** Members that the gateway computes from other rows, and how. By default there are none, and `derive` gives the words of a row's own texts. */
  readonly computed?: readonly string[];
  readonly derive?: Derive;
  /** Whether a RecordKind written by hand imports and exports its rows, as one does threads with their messages (resources/requests/records.ts). */
  readonly hasRecordsByHand?: boolean;
  readonly summary?: Summary;
  /** Lists of objects whose ids bulk calls and PATCH never take from callers: one that no stored object has counts as left out. */
  readonly gatewayIds?: readonly string[];
  /**
   * Checks that span several of the members given in a write, or in a record of an import; pointers are relative to the object. Unlike `rules`
   * they let other members change while these stay as another program stored them.
   */
  readonly elementRules?: (input: never) => readonly Fault[];
}

/** @throws Error if the SDL has no such stored type: the server must not start */
export function defineResource<T extends Row = Row>(type: string, spec: ResourceSpec = {}): Resource<T> {
  const stored = published.stored.get(type);
  if (!stored) throw new Error(`schema/ has no type ${type} with @stored`);
  const paths = searchablePaths(stored.members);
  const words = (row: object): string[] => {
    const texts: string[] = [];
    for (const path of paths) collectTexts(row, path, 0, texts);
    return searchWords(texts);
  };
  const { collection: name, omittedInLists, members } = stored;
  const omitted = Object.fromEntries(omittedInLists.map((member) => [member, 0 as const]));
  const resource = {
    ...defineCollection<T>(name, published.indexesOf(stored), stored.retiredIndexes),
    restriction: restrictionOf(published.stored, stored),
    stored,
    projection: omittedInLists.length === 0 ? WITHOUT_SEARCH : { ...WITHOUT_SEARCH, ...omitted },
    words,
    faultIn: faultsOf(stored),
    schema: storedSchema(stored, spec.computed),
    computed: spec.computed ?? [],
    derive: spec.derive ?? (paths.length > 0 ? derivedWords(words) : () => Promise.resolve([])),
  };
  const elementRules = (input: Readonly<Record<string, unknown>>): readonly Fault[] => [
    ...repeatedIds(members, input),
    ...(spec.elementRules?.(input as never) ?? []),
  ];
  const recordRules = {
    decimals: spec.decimals,
    rules: (record: ImportRecord) => [...elementRules(record), ...(spec.rules?.(record) ?? [])],
  };
  const records = spec.hasRecordsByHand ? undefined : createDocumentKind(resource, recordRules);
  return {
    ...resource,
    records,
    defaults: defaultsOf(members),
    summary: spec.summary,
    gatewayIds: spec.gatewayIds,
    elementRules,
    rules: spec.rules,
    mostPairs: members.find((member) => member.name === METADATA)?.most ?? 0,
  };
}

function derivedWords(words: (row: object) => string[]): Derive {
  return async (data, rows) => {
    const pace = data.pace();
    const derived: { readonly search: string[] }[] = [];
    for (const row of rows) {
      const pause = pace();
      if (pause) await pause;
      derived.push({ search: words(row) });
    }
    return derived;
  };
}

function searchablePaths(members: readonly StoredMember[]): (readonly string[])[] {
  return members.flatMap(({ name, isSearchable, members: inner }) => [
    ...(isSearchable ? [[name]] : []),
    ...searchablePaths(inner).map((path) => [name, ...path]),
  ]);
}

/** Adds the strings at a path, from its step `at` on; of a list on the path, those of all its objects. */
function collectTexts(value: unknown, path: readonly string[], at: number, texts: string[]): void {
  if (Array.isArray(value)) for (const element of value) collectTexts(element, path, at, texts);
  else if (at === path.length) {
    if (typeof value === 'string') texts.push(value);
  } else if (typeof value === 'object' && value !== null) {
    collectTexts((value as Record<string, unknown>)[path[at] ?? ''], path, at + 1, texts);
  }
}
