import { getDirectiveValues, GraphQLIncludeDirective, type GraphQLResolveInfo, GraphQLSkipDirective } from 'graphql';
import type { Operation } from '../schema/declaredOperations';
import type { CallContext } from './context';
import { fieldsIn } from './selection';
import { METADATA } from '../schema/metadata';

/*
 * What the answer to a change tells a key that may write, but not read: the id, and the members that it sent. Otherwise it would read
 * everything by changing nothing (contract, section 3).
 */

type Arguments = Readonly<Record<string, unknown>>;
type Answering = Pick<Operation, 'readScope'>;

/** The members of the answer that the caller may see; undefined for all. */
export function toldMembers(
  { readScope }: Answering,
  args: Arguments,
  { principal }: Pick<CallContext, 'principal'>,
): ReadonlySet<string> | undefined {
  if (readScope === undefined || principal.kind !== 'key' || principal.scopes.has(readScope)) return undefined;
  // of metadata, the answer has pairs that the caller did not send
  return new Set(['id', ...Object.keys(args).filter((name) => name !== METADATA)]);
}

/** An answer with only these members. */
export function withMembers(answer: object | null, members: ReadonlySet<string>): object | null {
  return answer && Object.fromEntries(Object.entries(answer).filter(([member]) => members.has(member)));
}

/** The most members that an error names. */
const NAMED = 5;

/** Checks what GraphQL selects from the answer before anything is stored. @throws AppError insufficient_scope */
export function requireTold(
  operation: Answering,
  args: Arguments,
  context: CallContext,
  info: GraphQLResolveInfo,
): void {
  const members = toldMembers(operation, args, context);
  if (!members) return;
  const { fieldNodes, fragments, variableValues } = info;
  const isLeftOut: Parameters<typeof fieldsIn>[2] = (selection) =>
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if === false;
  const names = fieldsIn(fieldNodes, (name) => fragments[name], isLeftOut).map(({ name }) => name.value);
  const others = [...new Set(names)].filter((name) => !members.has(name) && name !== '__typename');
  if (others.length === 0) return;
  const othersText = `${others.slice(0, NAMED).join(', ')}${others.length > NAMED ? ' and others' : ''}`;
  context.authorise(
    { scope: operation.readScope, role: undefined },
    `Selecting ${othersText}, which the call does not set,`,
  );
}
