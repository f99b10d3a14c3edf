import { SCOPES, type Scope, type ScopeName } from '../access/scopes';
import { directiveOf, loadDocument, rootFieldNodes } from '../schema/sdl';
import { ownerOf, referenceTo, storedTypes } from '../schema/stored';

/* What can happen to which objects, derived from the stored types of the SDL (docs/decisions/events.md). */

/** A collection whose changes are public. */
export interface PublicCollection {
  readonly collection: string;
  /** What events call its objects; for a part, the object that it belongs to. */
  readonly object: string;
  /** Names of the members that callers can see. */
  readonly members: ReadonlySet<string>;
  readonly hasStatus: boolean;
  /** For rows that are part of another object: the member with that one's id, and the event of a new one. */
  readonly part: { readonly member: string; readonly added: string } | undefined;
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

const document = loadDocument();
const stored = [...storedTypes(document).values()];

/** Every collection with public objects, by its name. */
export const PUBLIC: ReadonlyMap<string, PublicCollection> = new Map(
  stored.map((one) => {
    const { type, collection, members } = one;
    const names = members.map(({ name }) => name).filter((name) => name !== 'id');
    const owner = ownerOf(one, stored);
    const object = nameOf(owner?.type ?? type);
    const added = `${object}.${nameOf(type)}_added`;
    const part = owner && { member: referenceTo(owner.type), added };
    const hasStatus = !owner && names.includes('status');
    return [collection, { collection, object, members: new Set(names), hasStatus, part }];
  }),
);

/** The scope of the root field that lists a collection. */
function readScope(collection: string): Scope | undefined {
  const list = rootFieldNodes(document).find(({ field }) => field.name.value === collection);
  const scope = directiveOf(list?.field, 'access')?.scope;
  return scope === undefined ? undefined : SCOPES[scope as ScopeName];
}

function typesOf({ object, hasStatus, part }: PublicCollection): string[] {
  if (part) return [part.added];
  return ['created', 'updated', ...(hasStatus ? ['status_changed'] : []), 'deleted'].map((what) => `${object}.${what}`);
}

function scopeOf(object: string): Scope | undefined {
  const own = [...PUBLIC.values()].find((one) => one.object === object && !one.part);
  return own && readScope(own.collection);
}

/** Every type of event. */
export const EVENT_TYPES: readonly EventType[] = [
  ...[...PUBLIC.values()].flatMap((one) => typesOf(one).map((name) => ({ name, scope: scopeOf(one.object) }))),
  { name: GAP, scope: undefined },
];
