import {
  type ASTNode,
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

/**
 * Texts in a document that graphql-jit may write into the code that it makes: all that ids, dates and names need, and nothing that could end a text.
 * It writes literals as JSON and then replaces marked texts (`__MAGIC_DATE__…`) by code. Those in variables and in the schema it does not write.
 */
const HARMLESS = /^(?:(?!__)[\w .:@+-])*$/;

/**
 * Whether graphql-jit gives the same result, and makes code of nothing that a caller chose: no @skip or @include (inconsistent in fragments), no
 * introspection, at most one field of a mutation, no variable inside a literal (null if it is not sent), no text beyond {@link HARMLESS}.
 */
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
    Name: ({ value }) => (value.startsWith('__') && value !== '__typename' ? refuse() : undefined),
    Variable: (_node, _key, parent) => (isWhole(parent) ? undefined : refuse()),
    StringValue: ({ value }) => (HARMLESS.test(value) ? undefined : refuse()),
  });
  return isPlainSoFar;
}

/** Whether a variable in a node is the whole value of an argument, or declared there. */
function isWhole(parent: ASTNode | readonly ASTNode[] | undefined): boolean {
  return parent !== undefined && 'kind' in parent && WITH_VARIABLE.includes(parent.kind);
}
const WITH_VARIABLE: readonly string[] = [Kind.ARGUMENT, Kind.VARIABLE_DEFINITION];
