import { type DocumentNode, getOperationAST, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql';
import type { RequestContext } from '../operations/context';
import type { Runnable } from '../operations/runner';
import { answerText } from '../operations/answerText';
import { ROWS } from '../schema/sdl';
import { everyField, rootField, type Selected } from '../operations/selection';
import type { Tool } from './tools';

/* Runs operations for tools: with all members, or those that the rows of a list usually have. */

export interface Run {
  readonly selected: readonly Selected[];
  /** The answer as JSON text, in bytes if it may be long. Rethrows the operation's error. */
  readonly run: (args: Readonly<Record<string, unknown>>, context: RequestContext) => Promise<Buffer | string>;
}

/** An operation with all members, and with the usual ones; the same if they are. */
export interface Runs {
  readonly all: Run;
  readonly usual: Run;
}

/** How to run the operation of a tool. What is compiled does not depend on what callers send. */
export function runsOf(tool: Tool, { schema, execute, reader }: Runnable): Runs {
  const { field, rows, operation } = tool;
  const runWith = (selected: readonly Selected[]): Run => {
    let document: { readonly document: DocumentNode; readonly operation: OperationDefinitionNode } | undefined;
    const read = reader(selected);
    return {
      selected,
      async run(args, context) {
        const answer = await read(args, context, async () => {
          document ??= documentOf(schema, tool, selected);
          const { data, errors } = await execute({ ...document, contextValue: context, variableValues: args });
          if (errors?.[0]) throw errors[0];
          const value = data?.[operation.name];
          return tool.isWrite ? JSON.stringify(value) : answerText(value, context);
        });
        return typeof answer === 'object' && 'text' in answer ? answer.text : answer;
      },
    };
  };
  const whole = everyField(field.type);
  const all = runWith(whole);
  const isNarrower = rows !== undefined && rows.usual.length < rows.all.length;
  return {
    all,
    usual: isNarrower ? runWith(whole.map((one) => (one.key === ROWS ? only(one, rows.usual) : one))) : all,
  };
}

/** A selection of rows with the named members only. */
function only(rows: Selected, names: readonly string[]): Selected {
  return { ...rows, selected: rows.selected.filter(({ key }) => names.includes(key)) };
}

/** The operation as GraphQL, with each argument as a variable. */
function documentOf(schema: GraphQLSchema, { operation }: Tool, selected: readonly Selected[]) {
  const { kind, name } = operation;
  const args = rootField(schema, operation)?.args ?? [];
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(', ');
  const given = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const call = args.length === 0 ? name : `${name}(${given})`;
  const text = `${kind === 'Query' ? 'query' : 'mutation'}${args.length === 0 ? '' : `(${variables})`} { ${call}${selectionText(selected)} }`;
  const document = parse(text, { noLocation: true });
  const node = getOperationAST(document);
  if (!node) throw new Error(`no operation for the tool ${name}`);
  return { document, operation: node };
}

function selectionText(selected: readonly Selected[]): string {
  if (selected.length === 0) return '';
  return ` { ${selected.map((one) => one.key + selectionText(one.selected)).join(' ')} }`;
}
