import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLOutputType, isObjectType } from 'graphql';
import type { RequestContext } from './context';

/*
 * Answers that are written as JSON text from the database's bytes, without making objects (docs/decisions/fast.md). A
 * resolver that can do that has a `writerOf`.
 */

/** A field in an answer. */
export interface Selected {
  /** Its name there. */
  readonly key: string;
  /** The field; undefined for `__typename`. */
  readonly field: Field | undefined;
  /** The type it is selected on. */
  readonly type: GraphQLObjectType;
  /** Its own fields, if it is an object or a list of objects. */
  readonly selected: readonly Selected[];
}

export type Field = GraphQLField<unknown, RequestContext>;

/** A JSON text, and the cursor in it if it is a page. */
export interface Written {
  readonly text: Buffer;
  readonly next?: string | null;
}

/** Why an answer is not written: its data are not what was expected, or were not a moment ago. */
export type FallbackReason = 'data' | 'recently';

/** Answers a root field, or says why it does not. @throws what the resolver throws */
export type Writer = (
  args: Readonly<Record<string, unknown>>,
  context: RequestContext,
) => Promise<Written | FallbackReason>;

/** What writes a selection of a root field; undefined if the selection has fields whose values are not stored. */
export type WriterOf = (selected: readonly Selected[]) => Writer | undefined;

/** Every field of a type, in its order, as REST answers have them. */
export function everyField(outer: GraphQLOutputType): Selected[] {
  const type = getNamedType(outer);
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).map((field) => ({
    key: field.name,
    field: field as Field,
    type,
    selected: everyField(field.type),
  }));
}

/** The writer of a root field for a selection; undefined if it has none. */
export function writerOf(root: Field, selected: readonly Selected[]): Writer | undefined {
  return (root.extensions.writerOf as WriterOf | undefined)?.(selected);
}
