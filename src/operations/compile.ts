import {
  BREAK,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';

/* Compiles operations. Loaded at first use: graphql-jit takes a twentieth of the time in which startup loads packages. */

export type Query = CompiledQuery['query'];

/** Null for an operation that graphql-js and graphql-jit would answer differently. */
export function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Query | null {
  if (!isPlain(document, operation)) return null;
  const compiled = compileQuery(schema, document, operation.name?.value ?? '');
  return isCompiledQuery(compiled) ? compiled.query : null;
}

/** Whether graphql-jit gives the same result: no @skip or @include (inconsistent in fragments), no introspection, at most one field of a mutation. */
function isPlain(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) return false;
  const { selections } = operation.selectionSet;
  const [first] = selections;
  const isOneField = selections.length === 1 && first?.kind === Kind.FIELD;
  if (operation.operation === OperationTypeNode.MUTATION && !isOneField) return false;
  let isPlainSoFar = true;
  const refuse = (): typeof BREAK => {
    isPlainSoFar = false;
    return BREAK;
  };
  visit(document, {
    Directive: refuse,
    Field: ({ name }) => (name.value.startsWith('__') && name.value !== '__typename' ? refuse() : undefined),
  });
  return isPlainSoFar;
}
