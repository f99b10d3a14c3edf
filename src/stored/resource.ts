import { Schema } from 'mongoose';
import { type Collection, defineCollection, type Index, type Projection, WITHOUT_SEARCH } from '../database/collection';
import type { Resolvers } from '../operations/run';
import { loadDocument } from '../schema/sdl';
import { type StoredMember, storedTypes } from '../schema/storedTypes';
import { brokenNumberIn, type Numbered } from './brokenNumbers';
import { documentKind } from './documentKind';
import type { RecordKind, RecordRules } from './records';
import { searchWords } from './search';

/* A resource: the collection, search, import and export of a stored type, derived from the SDL. */

/** A row as stored: its id is `_id`, and `search` has its search words. */
export interface Row {
  readonly _id: string;
}

export interface Resource<out T extends Row = Row> extends Collection<T>, Numbered {
  /** The projection without the members that lists omit. Always the same object, since reads are batched by it. */
  readonly projection: Projection;
  /** The search words of a row. */
  words(row: object): string[];
  /** How it is imported and exported; undefined if it is part of another record. */
  readonly records: RecordKind | undefined;
  /** Its own resolvers, if it is a single file. */
  readonly resolvers: Resolvers | undefined;
}

export interface ResourceSpec extends RecordRules {
  /** Name of the SDL type. */
  readonly type: string;
  /** One per sort, one per filter with the default sort, one for the search words (docs/decisions/files.md). */
  readonly indexes: readonly Index[];
  readonly retired?: readonly string[];
  /** Whether its rows are part of another record, so that it has none of its own. */
  readonly isPartOfRecord?: boolean;
  readonly resolvers?: Resolvers;
}

/** @throws Error if the SDL has no such stored type: the server must not start */
export function defineResource<T extends Row = Row>(spec: ResourceSpec): Resource<T> {
  const stored = storedTypes(loadDocument()).get(spec.type);
  if (!stored) throw new Error(`schema/ has no type ${spec.type} with @stored`);
  const texts = searchablePaths(stored.members);
  const words = (row: object): string[] => {
    const found: string[] = [];
    for (const path of texts) collectTexts(row, path, 0, found);
    return searchWords(...found);
  };
  const { id: _id, ...shape } = shapeOf(stored.members);
  const { collection: name, omittedInLists } = stored;
  const search = texts.length > 0 ? { search: { type: [String], required: true } } : {};
  const less = Object.fromEntries(omittedInLists.map((member) => [member, 0 as const]));
  const resource = {
    ...defineCollection<T>(name, { _id: { type: String, required: true }, ...shape, ...search }, spec.indexes, {
      retired: spec.retired,
    }),
    stored,
    projection: omittedInLists.length === 0 ? WITHOUT_SEARCH : { ...WITHOUT_SEARCH, ...less },
    words,
    brokenNumber: brokenNumberIn(stored.members),
  };
  const records = spec.isPartOfRecord ? undefined : documentKind(resource, spec);
  return { ...resource, records, resolvers: spec.resolvers };
}

const TYPES = { text: String, number: Number, flag: Boolean, date: Date } as const;

/** The Mongoose shape of members. Values are validated earlier, against the SDL. */
function shapeOf(members: readonly StoredMember[]): Record<string, unknown> {
  return Object.fromEntries(members.map((member) => [member.name, shapeOfMember(member)]));
}

function shapeOfMember({ kind, isList, isRequired, members }: StoredMember): unknown {
  const type = kind === 'object' ? new Schema(shapeOf(members) as Record<string, never>, { _id: false }) : TYPES[kind];
  if (isList) return [type];
  return isRequired ? { type, required: true } : { type, default: null };
}

function searchablePaths(members: readonly StoredMember[]): (readonly string[])[] {
  return members.flatMap(({ name, isSearchable, members: inner }) => [
    ...(isSearchable ? [[name]] : []),
    ...searchablePaths(inner).map((path) => [name, ...path]),
  ]);
}

/** Adds the strings at a path from its step `at`, in all objects of lists on the path. */
function collectTexts(value: unknown, path: readonly string[], at: number, found: string[]): void {
  if (Array.isArray(value)) for (const one of value) collectTexts(one, path, at, found);
  else if (at === path.length) {
    if (typeof value === 'string') found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    collectTexts((value as Record<string, unknown>)[path[at] ?? ''], path, at + 1, found);
  }
}
