import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { OrganisationData } from '../tenant/organisationData';
import type { ReadContext, CallContext } from './context';
import type { Operation } from '../schema/declaredOperations';
import { omittedFrom } from '../schema/restDocument';

/* The selection of a root field, and its fast read from the database's bytes (docs/decisions/fast.md). */

/** A field in an answer. */
export interface Selected {
  /** Its name in the answer. */
  readonly key: string;
  /** The field; undefined for `__typename`. */
  readonly field: Field | undefined;
  /** The type that it is selected on. */
  readonly type: GraphQLObjectType;
  /** Its own fields, if it is an object or a list of objects. */
  readonly selected: readonly Selected[];
}

export type Field = GraphQLField<unknown, CallContext>;

export function rootField(schema: GraphQLSchema, { kind, name }: Pick<Operation, 'kind' | 'name'>): Field | undefined {
  const root = kind === 'Query' ? schema.getQueryType() : schema.getMutationType();
  return root?.getFields()[name] as Field | undefined;
}

/** All fields of an object or list of objects, in the SDL's order, that REST and MCP return: without those that need `include`, but for those `included`. */
export function everyField(outer: GraphQLOutputType, included: readonly string[] = []): Selected[] {
  const type = getNamedType(outer);
  if (!isObjectType(type)) return [];
  const isList = isListType(getNullableType(outer));
  return Object.values(type.getFields())
    .filter(({ name, astNode }) => {
      const from = astNode && omittedFrom(astNode);
      return included.includes(name) || from === undefined || (from === 'LISTS' && !isList);
    })
    .map((field) => ({
      key: field.name,
      field: field as Field,
      type,
      // nothing is included in what is included: a type may refer to itself
      selected: everyField(field.type, included.includes(field.name) ? [] : included),
    }));
}

/**
 * The fields below nodes, including those in fragments. Visits each fragment once, since every spread of it is the same. A selection
 * for which `isLeftOut` returns true is skipped with everything in it.
 */
export function fieldsIn(
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  fragmentOf: (name: string) => FragmentDefinitionNode | undefined,
  isLeftOut: (selection: SelectionNode) => boolean = () => false,
): FieldNode[] {
  const fields: FieldNode[] = [];
  const visited = new Set<string>();
  const collect = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (isLeftOut(selection)) continue;
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        collect(fragmentOf(selection.name.value)?.selectionSet);
      }
    }
  };
  for (const { selectionSet } of nodes) collect(selectionSet);
  return fields;
}

/** An answer as JSON, with its next cursor if it is a page. */
export interface Written {
  readonly text: Buffer;
  readonly next?: string | null;
}

/** Why a read fell back to resolvers: unexpected arguments or data, or unexpected data a moment ago. */
export type FallbackReason = 'arguments' | 'data' | 'recently';

/** The answer of a fast read, or the reason why it fell back. */
export interface ReadOutcome {
  readonly written?: Written;
  readonly reason?: FallbackReason;
}

/** Answers a root field from the database's bytes, unless it has to fall back to the resolver. @throws what the resolver throws */
export interface FastRead {
  (args: Readonly<Record<string, unknown>>, context: ReadContext): Promise<ReadOutcome>;
  /** Whether it will send nothing but one read command, so that it may begin before its caller's key is read. */
  readonly isOneCommand?: (data: OrganisationData, args: Readonly<Record<string, unknown>>) => boolean;
}

/** The fast read of a selection of a root field; undefined if the selection has fields whose values are not stored. */
export type FastReadOf = (selected: readonly Selected[]) => FastRead | undefined;
