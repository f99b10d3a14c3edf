import { type GraphQLResolveInfo, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { AppError } from '../errors';
import { aggregates } from '../schema/declaredOperations';
import type { CallContext } from './context';
import { fieldsIn } from './selection';

/* What signed-in users read of their organisation's data: figures, and what names the objects in them (docs/decisions/insights.md). */

/** The types of the rows of figures. */
export function figureRows(schema: GraphQLSchema): ReadonlySet<string> {
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {});
  const answers = queries.filter(({ astNode }) => aggregates(astNode)).map(({ type }) => getNamedType(type));
  const lists = answers.flatMap((answer) => (isObjectType(answer) ? (answer.getFields().data ?? []) : []));
  return new Set(lists.map(({ type }) => getNamedType(type).name));
}

/** What a user may select of an object that a row of figures refers to, such as the customer of a total. */
const NAMES = ['id', 'name', '__typename'];

/**
 * Checks what a user selects of figures, before anything is read: of the objects in their rows no more than the name, or a total by customer
 * would be a list of customers. @throws AppError forbidden
 */
export function requireNamesOnly({ principal }: CallContext, { fieldNodes, fragments }: GraphQLResolveInfo): void {
  if (principal.kind !== 'user') return;
  const below = (nodes: Parameters<typeof fieldsIn>[0]) => fieldsIn(nodes, (name) => fragments[name]);
  // also what @skip leaves out: the same text may be sent with other variables. The answer has rows, which have members, which may be objects
  const other = below(below(below(fieldNodes))).find(({ name }) => !NAMES.includes(name.value));
  if (!other) return;
  const detail = `Signed-in users can select id and name of an object in a figure; ${other.name.value} requires an API key.`;
  throw new AppError('forbidden', detail);
}
