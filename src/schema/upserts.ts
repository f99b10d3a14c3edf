import type { DocumentNode } from 'graphql';
import { directiveOf, fieldsOf, inputFieldsOf, keptOf, loadDocument, namedType, rootFieldNodes } from './sdl';
import { type StoredType, storedTypes } from './storedTypes';

/* Bulk upserts, from the SDL: writes of a list of elements that are validated individually (@per_element). */

export interface BulkUpsert {
  /** Name of the root field. */
  readonly operation: string;
  readonly stored: StoredType;
  /** The argument with the elements of a call; named as the collection that they are stored in. */
  readonly list: string;
  /** The input type of an element. */
  readonly element: string;
  /** The member with the caller's key of an object: the unique one of the stored type. */
  readonly key: string;
  /** Members of an element that a new object needs: those that may be left out, but not be null. */
  readonly needed: readonly string[];
  /** Type of the answer. */
  readonly report: string;
  /** Type of what it says of one element; empty if it says nothing. */
  readonly result: string;
}

/** What can become of an element. */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** The member of a report with what became of each element. */
export const RESULTS = 'results';

export const upsertsOf = keptOf(findUpserts);

function findUpserts(document: DocumentNode): BulkUpsert[] {
  const types = new Map([...storedTypes(document).values()].map((stored) => [stored.collection, stored]));
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const list = (field.arguments ?? []).find((argument) => directiveOf(argument, 'per_element'));
    const stored = kind === 'Mutation' && list ? types.get(list.name.value) : undefined;
    if (!list || stored?.unique === undefined) return [];
    const [element, report] = [namedType(list.type), namedType(field.type)];
    const members = inputFieldsOf(document, element);
    const needed = members.filter((member) => directiveOf(member, 'constraint')?.not_null === true);
    const results = fieldsOf(document, report).find(({ name }) => name.value === RESULTS);
    return [
      {
        ...{ operation: field.name.value, stored, list: list.name.value, element, key: stored.unique, report },
        needed: needed.map(({ name }) => name.value),
        result: results ? namedType(results.type) : '',
      },
    ];
  });
}

/** The bulk upserts of the published schema. */
export function publishedUpserts(): readonly BulkUpsert[] {
  return upsertsOf(loadDocument());
}
