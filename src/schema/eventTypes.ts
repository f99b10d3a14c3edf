import { type Scope, scopeOf } from '../auth/scopes';
import { ERASED_AT } from './personal';
import { readScope } from './readScopes';
import { type DerivedRestriction, restrictionOf } from './restricted';
import type { Sdl } from './sdl';
import { objectName, ownerOf, referenceTo, type StoredTypes } from './storedTypes';

/* The events that objects of each kind can have, derived from the stored types of the SDL (docs/decisions/events.md). */

/** A collection whose changes callers get as events. */
export interface PublicCollection {
  readonly collection: string;
  /** The name of its objects in events; for a part, the name of the object that it belongs to. */
  readonly object: string;
  /** Names of the members that callers can see. */
  readonly members: ReadonlySet<string>;
  readonly hasStatus: boolean;
  /** Whether its objects can be erased. */
  readonly hasErasure: boolean;
  /** For rows that are part of another object: their name, the member with that object's id, and the event for a new row. */
  readonly part: { readonly name: string; readonly member: string; readonly added: string } | undefined;
  /** Which of its rows a key restricted to customers has. */
  readonly restriction: DerivedRestriction;
}

export interface EventType {
  readonly name: string;
  /** The scope that a key needs to receive it; undefined if every key does. */
  readonly scope: Scope | undefined;
  /** Whether keys restricted to customers get only those of their objects. */
  readonly isRestricted: boolean;
}

/** The event in a feed that says that others may be missing there, since the database's log was lost. */
export const GAP = 'feed.gap';

/** The collections with public objects, by name. */
export function publicCollections(types: StoredTypes): ReadonlyMap<string, PublicCollection> {
  const stored = [...types.values()];
  return new Map(
    stored.map((storedType) => {
      const { type, collection, members } = storedType;
      const names = members.map(({ name }) => name).filter((name) => name !== 'id');
      const owner = ownerOf(storedType, stored);
      const object = objectName(owner?.type ?? type);
      const name = objectName(type);
      const part = owner && { name, member: referenceTo(owner.type), added: `${object}.${name}_added` };
      const hasStatus = !owner && names.includes('status');
      const hasErasure = names.includes(ERASED_AT);
      const restriction = restrictionOf(types, storedType);
      return [collection, { collection, object, members: new Set(names), hasStatus, hasErasure, part, restriction }];
    }),
  );
}

/** All types of events, by collection, and {@link GAP}. */
export function findEventTypes(sdl: Sdl, collections: ReadonlyMap<string, PublicCollection>): readonly EventType[] {
  const all = [...collections.values()];
  const readScopeOf = (object: string): Scope | undefined => {
    const owner = all.find((collection) => collection.object === object && !collection.part);
    return owner && readScope(sdl, owner.collection);
  };
  return [
    ...all.flatMap((collection) => {
      const isRestricted = collection.restriction !== 'unrestricted';
      return typesOf(collection).map((name) => ({ name, scope: readScopeOf(collection.object), isRestricted }));
    }),
    { name: GAP, scope: undefined, isRestricted: false },
  ];
}

function typesOf({ object, hasStatus, hasErasure, part }: PublicCollection): string[] {
  if (part) return [part.added];
  const some = [...(hasStatus ? ['status_changed'] : []), ...(hasErasure ? ['erased'] : [])];
  return ['created', 'updated', ...some, 'deleted'].map((what) => `${object}.${what}`);
}

/** The scopes of which a key needs one to receive any events (@access(events: true)); in the order of the enum. */
export function scopesOf(sdl: Sdl, types: readonly EventType[]): readonly Scope[] {
  const read = new Set(types.map(({ scope }) => scope));
  return sdl.enumValuesOf('Scope').flatMap(({ name }) => {
    const scope = scopeOf(name.value);
    return read.has(scope) ? scope : [];
  });
}
