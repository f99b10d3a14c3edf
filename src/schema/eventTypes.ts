import type { DocumentNode } from 'graphql';
import { SCOPES, type Scope, type ScopeName } from '../auth/scopes';
import { directiveOf, enumValuesOf, keptOf, loadDocument, rootFieldNodes } from './sdl';
import { ownerOf, referenceTo, storedTypes } from './storedTypes';

/* What can happen to which objects, derived from the stored types of the SDL (docs/decisions/events.md). */

/** A collection whose changes are public. */
export interface PublicCollection {
  readonly collection: string;
  /** What events call its objects; for a part, the object that it belongs to. */
  readonly object: string;
  /** Names of the members that callers can see. */
  readonly members: ReadonlySet<string>;
  readonly hasStatus: boolean;
  /** For rows that are part of another object: what they are called, the member with that one's id, and the event of a new one. */
  readonly part: { readonly name: string; readonly member: string; readonly added: string } | undefined;
}

export interface EventType {
  readonly name: string;
  /** The scope that a key needs to hear of it; undefined if it concerns everyone. */
  readonly scope: Scope | undefined;
}

/** History was lost. */
export const GAP = 'feed.gap';

/** What an object of a type is called. */
function nameOf(type: string): string {
  return referenceTo(type).replace(/_id$/, '');
}

/** Every collection with public objects, by its name. */
export function publicCollections(document: DocumentNode): ReadonlyMap<string, PublicCollection> {
  const stored = [...storedTypes(document).values()];
  return new Map(
    stored.map((one) => {
      const { type, collection, members } = one;
      const names = members.map(({ name }) => name).filter((name) => name !== 'id');
      const owner = ownerOf(one, stored);
      const object = nameOf(owner?.type ?? type);
      const name = nameOf(type);
      const part = owner && { name, member: referenceTo(owner.type), added: `${object}.${name}_added` };
      const hasStatus = !owner && names.includes('status');
      return [collection, { collection, object, members: new Set(names), hasStatus, part }];
    }),
  );
}

/** Every type of event. */
export function eventTypesOf(document: DocumentNode): readonly EventType[] {
  const all = [...publicCollections(document).values()];
  const scopeOf = (object: string): Scope | undefined => {
    const own = all.find((one) => one.object === object && !one.part);
    const scope = own && readScope(document, own.collection);
    return scope === undefined ? undefined : SCOPES[scope];
  };
  return [
    ...all.flatMap((one) => typesOf(one).map((name) => ({ name, scope: scopeOf(one.object) }))),
    { name: GAP, scope: undefined },
  ];
}

/** The scope of the root field that lists a collection. */
function readScope(document: DocumentNode, collection: string): ScopeName | undefined {
  const list = rootFieldNodes(document).find(({ field }) => field.name.value === collection);
  return directiveOf(list?.field, 'access')?.scope as ScopeName | undefined;
}

function typesOf({ object, hasStatus, part }: PublicCollection): string[] {
  if (part) return [part.added];
  return ['created', 'updated', ...(hasStatus ? ['status_changed'] : []), 'deleted'].map((what) => `${object}.${what}`);
}

const namesIn = keptOf((document) => eventTypesOf(document).map(({ name }) => name));

/** The names of all types of events: what an argument with @event_types takes. */
export function eventTypeNames(): readonly string[] {
  return namesIn(loadDocument());
}

const scopesIn = keptOf((document) => {
  const read = new Set(eventTypesOf(document).map(({ scope }) => scope));
  const all = enumValuesOf(document, 'Scope').map(({ name }) => name.value as ScopeName);
  return all.filter((name) => read.has(SCOPES[name]));
});

/** The scopes of which a key needs one to hear of any event (@access(events: true)), in the order of the enum. */
export function eventScopes(): readonly ScopeName[] {
  return scopesIn(loadDocument());
}
