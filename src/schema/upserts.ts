import type { Organisation } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import { readScope } from './readScopes';
import { directiveOf, type Sdl } from './sdl';
import { namedType } from '../sdl/nodes';
import type { StoredType, StoredTypes } from './storedTypes';

/*
 * Bulk upserts, from the SDL: writes of a list of elements that are validated individually (@per_element), each of which creates an object or
 * updates the one with the same key.
 */

export interface BulkUpsert {
  /** Name of the root field. */
  readonly operation: string;
  readonly stored: StoredType;
  /** The argument with the elements of a call; it has the name of the collection that they are stored in. */
  readonly list: string;
  /** The input type of an element. */
  readonly element: string;
  /** The member with the caller's key of an object: the unique one of the stored type. */
  readonly key: string;
  /** Members that a new object needs, with @constraint(not_null: true): an element for an object that is there may leave them out. @default does not give them. */
  readonly needed: readonly string[];
  /** Members that an element may have, since objects that callers read have them, but that are not stored (@ignored). */
  readonly ignored: readonly string[];
  /** Members that an element sets. */
  readonly set: readonly string[];
  /** The scope to read the objects, which a dry run needs too. */
  readonly readScope: Scope | undefined;
  /** Type of the answer, which counts outcomes. */
  readonly report: string;
  /** Type of the result of one element; empty if the answer has none, which is an error of the schema. */
  readonly result: string;
}

/** Returns the object after an upsert, based on the existing object if there is one, without its id and times. */
export type Merge = (existing: object | undefined, element: object, organisation: Organisation) => object;

export const OUTCOMES = ['created', 'updated', 'unchanged', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** The member of a report with the result of each element. */
export const RESULTS = 'results';

export function findUpserts(sdl: Sdl, stored: StoredTypes): BulkUpsert[] {
  const types = new Map([...stored.values()].map((type) => [type.collection, type]));
  return sdl.roots.flatMap(({ kind, field }) => {
    const list = (field.arguments ?? []).find((argument) => directiveOf(argument, 'per_element'));
    const type = kind === 'Mutation' && list ? types.get(list.name.value) : undefined;
    // without a unique member nothing tells which object an element is for
    if (!list || type?.unique === undefined) return [];
    const element = namedType(list.type);
    const report = namedType(field.type);
    const members = sdl.inputFieldsOf(element);
    const needed = members.filter((member) => directiveOf(member, 'constraint')?.not_null === true);
    const ignored = members.filter((member) => directiveOf(member, 'ignored'));
    const results = sdl.fieldsOf(report).find(({ name }) => name.value === RESULTS);
    return [
      {
        operation: field.name.value,
        stored: type,
        list: list.name.value,
        element,
        key: type.unique,
        report,
        readScope: readScope(sdl, type.collection),
        needed: needed.map(({ name }) => name.value),
        ignored: ignored.map(({ name }) => name.value),
        set: members.filter((member) => !ignored.includes(member)).map(({ name }) => name.value),
        result: results ? namedType(results.type) : '',
      },
    ];
  });
}
