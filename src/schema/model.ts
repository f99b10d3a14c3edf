import { isReadScope, type Scope, scopeOf } from '../auth/scopes';
import { loadDocument } from '../sdl/files';
import { type Attachable, findAttachables } from './attachables';
import { findOperations, type Operation, sufficientScopes } from './declaredOperations';
import { type EventType, findEventTypes, type PublicCollection, publicCollections, scopesOf } from './eventTypes';
import { type Filter, findFilters } from './filters';
import { readOperatorDocument } from './operatorDocument';
import { type DerivedIndex, indexesOf } from './indexes';
import { readScopes } from './readScopes';
import { Sdl } from './sdl';
import { findStoredTypes, objectName, type StoredType, type StoredTypes } from './storedTypes';
import { type BulkUpsert, findUpserts } from './upserts';

/**
 * Everything derived from the SDL. Each part is computed once, on first use: deriving it eagerly could fail on an SDL that the start-up
 * checks (checks/) are there to reject. What `indexesOf` returns is not kept, as it is asked for once for each type.
 */
export class SchemaModel extends Sdl {
  /** What has been derived, by the name of the part. */
  readonly #derived = new Map<string, unknown>();

  get stored(): StoredTypes {
    return this.#once('stored', () => findStoredTypes(this));
  }

  get operations(): readonly Operation[] {
    return this.#once('operations', () => findOperations(this, this.eventScopes));
  }

  /** The stored types with attachments. */
  get attachables(): readonly Attachable[] {
    return this.#once('attachables', () => findAttachables(this, this.stored));
  }

  get upserts(): readonly BulkUpsert[] {
    return this.#once('upserts', () => findUpserts(this, this.stored));
  }

  /** The members that hold callers' own keys, such as sku: bulk calls match objects by them. */
  get callerKeys(): readonly string[] {
    return this.#once('callerKeys', () => [...new Set(this.upserts.map(({ key }) => key))]);
  }

  /** The collections with public objects, by name. */
  get collections(): ReadonlyMap<string, PublicCollection> {
    return this.#once('collections', () => publicCollections(this.stored));
  }

  get eventTypes(): readonly EventType[] {
    return this.#once('eventTypes', () => findEventTypes(this, this.collections));
  }

  /** The names of the event types that even keys restricted to customers get of every object. */
  get unrestrictedEventTypes(): ReadonlySet<string> {
    return this.#once(
      'unrestrictedEventTypes',
      () => new Set(this.eventTypes.filter(({ isRestricted }) => !isRestricted).map(({ name }) => name)),
    );
  }

  /** The names of stored objects: `quote`. */
  get objectTypes(): readonly string[] {
    return this.#once('objectTypes', () => [...this.stored.keys()].map(objectName));
  }

  /** A key needs at least one of these scopes to receive any events. */
  get eventScopes(): readonly Scope[] {
    return this.#once('eventScopes', () => scopesOf(this, this.eventTypes));
  }

  /** The scopes that allow something, in the order of the enum. */
  get usedScopes(): readonly Scope[] {
    return this.#once('usedScopes', () => usedScopesOf(this));
  }

  /** The used scopes that only read. */
  get readScopes(): readonly Scope[] {
    return this.#once('readScopes', () => this.usedScopes.filter(isReadScope));
  }

  /** The scope to read a stored type's objects; undefined if no root field lists them. */
  readScopeOf(type: string): Scope | undefined {
    return this.#once('readScopesByType', () => readScopes(this)).get(type);
  }

  /** What each scope allows in words, by the scope. */
  get scopeDescriptions(): ReadonlyMap<string, string> {
    return this.#once('scopeDescriptions', () => scopeDescriptionsOf(this));
  }

  indexesOf(stored: StoredType): readonly DerivedIndex[] {
    return indexesOf(this, this.stored, stored);
  }

  /** The filters of a root field, by its name. */
  filtersOf(operation: string): readonly Filter[] {
    return this.#once('filters', () => findFilters(this)).get(operation) ?? [];
  }

  #once<T>(part: string, derive: () => T): T {
    if (!this.#derived.has(part)) this.#derived.set(part, derive());
    return this.#derived.get(part) as T;
  }
}

function usedScopesOf(sdl: SchemaModel): Scope[] {
  const used = new Set(sdl.fields.flatMap(({ field }) => sufficientScopes(field)));
  const ofAttachments = new Set(sdl.attachables.map(({ add }) => add.scope));
  return sdl
    .enumValuesOf('Scope')
    .filter(({ name }) => used.has(name.value) || ofAttachments.has(scopeOf(name.value)))
    .map(({ name }) => scopeOf(name.value));
}

/** A description may begin with the scope: `products:read: List, search and read products.` */
function scopeDescriptionsOf(sdl: Sdl): ReadonlyMap<string, string> {
  return new Map(
    sdl.enumValuesOf('Scope').map(({ name, description }) => {
      const scope = scopeOf(name.value);
      return [scope, (description?.value ?? '').replace(`${scope}: `, '')];
    }),
  );
}

/**
 * The model of the SDL files in schema/ and the user's folder, without the operator API. They are read as this module is loaded, so commands call
 * useFolder (sdl/folder.ts) before they import what needs it.
 */
export const published = new SchemaModel(loadDocument());

let operators: SchemaModel | undefined;

/** The model of the operator API, made on first use: most processes do not serve that API. */
export function operatorModel(): SchemaModel {
  return (operators ??= new SchemaModel(readOperatorDocument({ noLocation: true })));
}
