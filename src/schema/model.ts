import type { ScopeName } from '../auth/scopes';
import { findOperations, type Operation } from './declaredOperations';
import { type EventType, findEventTypes, type PublicCollection, publicCollections, scopesOf } from './eventTypes';
import { type Filter, findFilters } from './filters';
import { loadDocument, Sdl } from './sdl';
import { findStoredTypes, type Types } from './storedTypes';
import { type BulkUpsert, findUpserts } from './upserts';

/** What the SDL says, worked out once, each when it is first asked for: what the checks at start refuse may not be readable. */
export class SchemaModel extends Sdl {
  readonly #made = new Map<(sdl: this) => unknown, unknown>();

  get stored(): Types {
    return this.#once(findStoredTypes);
  }

  get operations(): readonly Operation[] {
    return this.#once(operationsOf);
  }

  get upserts(): readonly BulkUpsert[] {
    return this.#once(upsertsOf);
  }

  /** The members that callers know objects by: bulk calls match by them. */
  get keys(): readonly string[] {
    return this.#once(keysOf);
  }

  /** The collections with public objects, by name. */
  get collections(): ReadonlyMap<string, PublicCollection> {
    return this.#once(collectionsOf);
  }

  get eventTypes(): readonly EventType[] {
    return this.#once(eventTypesOf);
  }

  /** The scopes of which a key needs one to hear of any event. */
  get eventScopes(): readonly ScopeName[] {
    return this.#once(eventScopesOf);
  }

  /** What each scope allows, by the scope. */
  get scopeDescriptions(): ReadonlyMap<string, string> {
    return this.#once(scopeDescriptionsOf);
  }

  /** The filters of a root field. */
  filtersOf(name: string): readonly Filter[] {
    return this.#once(findFilters).get(name) ?? [];
  }

  #once<T>(make: (sdl: this) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }
}

const operationsOf = (model: SchemaModel): Operation[] => findOperations(model, model.eventScopes);
const upsertsOf = (model: SchemaModel): BulkUpsert[] => findUpserts(model, model.stored);
const keysOf = ({ upserts }: SchemaModel): string[] => [...new Set(upserts.map(({ key }) => key))];
const collectionsOf = ({ stored }: SchemaModel) => publicCollections(stored);
const eventTypesOf = (model: SchemaModel) => findEventTypes(model, model.collections);
const eventScopesOf = (model: SchemaModel) => scopesOf(model, model.eventTypes);

/** The first word of an enum value's description is the scope itself. */
function scopeDescriptionsOf(sdl: Sdl): ReadonlyMap<string, string> {
  return new Map(
    sdl.enumValuesOf('Scope').map(({ description }) => {
      const [scope = '', ...words] = (description?.value ?? '').split(': ');
      return [scope, words.join(': ')];
    }),
  );
}

/** That of schema/. */
export const published = new SchemaModel(loadDocument());
