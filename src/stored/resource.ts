import { type Collection, definedByType, type Index, type Projection, WITHOUT_SEARCH } from '../database/collection';
import type { Resolvers } from '../operations/run';
import { published } from '../schema/model';
import type { StoredMember } from '../schema/storedTypes';
import { brokenNumberIn, type Numbered } from './brokenNumbers';
import { documentKind, type RecordKind, type RecordRules } from './records';
import { searchWords } from './search';

/* A resource: the collection, search, import and export of a stored type, derived from the SDL. */

/** A row as stored: its id is `_id`, and `search` has its search words. */
export interface Row {
  readonly _id: string;
}

export interface Resource<out T extends Row = Row> extends Collection<T>, Numbered {
  /** The projection without the members that lists omit. Always the same object, since reads are batched by it. */
  readonly projection: Projection;
  words(row: object): string[];
  /** How it is imported and exported; undefined if its rows are part of another resource's records. */
  readonly records: RecordKind | undefined;
  /** Its own resolvers, if the resource is a single file. */
  readonly resolvers: Resolvers | undefined;
}

export interface ResourceSpec extends RecordRules {
  readonly type: string;
  /** One index per sort, one per filter with the default sort, one for the search words (docs/decisions/files.md). */
  readonly indexes: readonly Index[];
  readonly retired?: readonly string[];
  /** Whether its rows are imported and exported within the record of another resource. */
  readonly isPartOfRecord?: boolean;
  readonly resolvers?: Resolvers;
}

/** @throws Error if the SDL has no such stored type: the server must not start */
export function defineResource<T extends Row = Row>(spec: ResourceSpec): Resource<T> {
  const stored = published.stored.get(spec.type);
  if (!stored) throw new Error(`schema/ has no type ${spec.type} with @stored`);
  const texts = searchablePaths(stored.members);
  const words = (row: object): string[] => {
    const found: string[] = [];
    for (const path of texts) collectTexts(row, path, 0, found);
    return searchWords(...found);
  };
  const { collection: name, omittedInLists, members } = stored;
  const times = members.filter(({ kind }) => kind === 'dateTime').map((member) => member.name as keyof T & string);
  const omitted = Object.fromEntries(omittedInLists.map((member) => [member, 0 as const]));
  const resource = {
    ...definedByType<T>(name, spec.indexes, times, spec.retired),
    stored,
    projection: omittedInLists.length === 0 ? WITHOUT_SEARCH : { ...WITHOUT_SEARCH, ...omitted },
    words,
    brokenNumber: brokenNumberIn(stored.members),
  };
  const records = spec.isPartOfRecord ? undefined : documentKind(resource, spec);
  return { ...resource, records, resolvers: spec.resolvers };
}

function searchablePaths(members: readonly StoredMember[]): (readonly string[])[] {
  return members.flatMap(({ name, isSearchable, members: inner }) => [
    ...(isSearchable ? [[name]] : []),
    ...searchablePaths(inner).map((path) => [name, ...path]),
  ]);
}

/** Adds the strings at a path, from its step `at` on; of a list on the path, those of all its objects. */
function collectTexts(value: unknown, path: readonly string[], at: number, found: string[]): void {
  if (Array.isArray(value)) for (const one of value) collectTexts(one, path, at, found);
  else if (at === path.length) {
    if (typeof value === 'string') found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    collectTexts((value as Record<string, unknown>)[path[at] ?? ''], path, at + 1, found);
  }
}
