import { type Scope, scopeOf } from '../auth/scopes';
import { loadDocument } from '../sdl/files';
import { type Attachable, findAttachables } from './attachables';
import { findOperations, type Operation } from './declaredOperations';
import { type EventType, findEventTypes, type PublicCollection, publicCollections, scopesOf } from './eventTypes';
import { type Filter, findFilters } from './filters';
import { readOperatorDocument } from './operatorDocument';
import { type DerivedIndex, indexesOf } from './indexes';
import { directiveOf, Sdl } from './sdl';
import { findStoredTypes, objectName, type StoredType, type Types } from './storedTypes';
import { type BulkUpsert, findUpserts } from './upserts';

/**
 * Everything derived from the SDL. Each part is computed once, on first use: deriving it eagerly could fail on an SDL that the start-up
 * checks are there to reject.
 */
export class SchemaModel extends Sdl {
  /** What has been computed, by the function that computes it. */
  readonly #made = new Map<(sdl: this) => unknown, unknown>();

  get stored(): Types {
    return this.#once(findStoredTypes);
  }

  get operations(): readonly Operation[] {
    return this.#once(operationsOf);
  }

  /** The stored types with attachments. */
  get attachables(): readonly Attachable[] {
    return this.#once(attachablesOf);
  }

  get upserts(): readonly BulkUpsert[] {
    return this.#once(upsertsOf);
  }

  /** The members that hold callers' own keys, such as sku: bulk calls match objects by them. */
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

  /** The names of stored objects: `quote`. */
  get objectTypes(): readonly string[] {
    return this.#once(objectTypesOf);
  }

  /** A key needs at least one of these scopes to receive any events. */
  get eventScopes(): readonly Scope[] {
    return this.#once(eventScopesOf);
  }

  /** The scopes that allow something, in the order of the enum. */
  get usedScopes(): readonly Scope[] {
    return this.#once(usedScopesOf);
  }

  /** What each scope allows, by the scope. */
  get scopeDescriptions(): ReadonlyMap<string, string> {
    return this.#once(scopeDescriptionsOf);
  }

  indexesOf(stored: StoredType): readonly DerivedIndex[] {
    return indexesOf(this, this.stored, stored);
  }

  filtersOf(name: string): readonly Filter[] {
    return this.#once(findFilters).get(name) ?? [];
  }

  #once<T>(make: (sdl: this) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }
}

const operationsOf = (model: SchemaModel): Operation[] => findOperations(model, model.eventScopes);
const attachablesOf = (model: SchemaModel): Attachable[] => findAttachables(model, model.stored);
const upsertsOf = (model: SchemaModel): BulkUpsert[] => findUpserts(model, model.stored);
const keysOf = ({ upserts }: SchemaModel): string[] => [...new Set(upserts.map(({ key }) => key))];
const collectionsOf = ({ stored }: SchemaModel) => publicCollections(stored);
const objectTypesOf = ({ stored }: SchemaModel): string[] => [...stored.keys()].map(objectName);
const eventTypesOf = (model: SchemaModel) => findEventTypes(model, model.collections);
const eventScopesOf = (model: SchemaModel) => scopesOf(model, model.eventTypes);

function usedScopesOf(sdl: SchemaModel): Scope[] {
  const used = new Set(
    sdl.fields.flatMap(({ field }) => {
      const { scope, any_of: anyOf = [] } = directiveOf(field, 'access') ?? {};
      return [scope, ...anyOf];
    }),
  );
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

/** The model of the SDL files in schema/, without the operator API. */
export const published = new SchemaModel(loadDocument());

let operators: SchemaModel | undefined;

/** The model of the operator API, made on first use: most processes do not serve that API. */
export function operatorModel(): SchemaModel {
  return (operators ??= new SchemaModel(readOperatorDocument({ noLocation: true })));
}
