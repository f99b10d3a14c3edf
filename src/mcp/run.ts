import { type DocumentNode, getOperationAST, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql';
import type { RequestContext } from '../operations/context';
import type { Schemas } from '../operations/build';
import { coerceArguments } from '../operations/argumentChecks';
import { withRawElements } from '../operations/elements';
import { answerText } from '../operations/answerText';
import { createExecutor } from '../operations/execution';
import { ROWS } from '../schema/gaps/mcpGaps';
import { everyField, type Field, type FallbackReason, type Selected, writerOf } from '../operations/fastRead';
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

type OnWritable = ((reason: FallbackReason | 'arguments' | undefined) => void) | undefined;

/** How to run the operation of each tool. What is compiled does not depend on what callers send. */
export function createRuns(schemas: Pick<Schemas, 'rest' | 'graphql'>, onWritable: OnWritable): (tool: Tool) => Runs {
  const raw = withRawElements(schemas.rest);
  const options = { compiledFrom: 1 };
  const rest = { schema: raw, execute: createExecutor(raw, options) };
  const others = { schema: schemas.graphql, execute: createExecutor(schemas.graphql, options) };
  return (tool) => {
    const { field, rows, operation } = tool;
    const runner = operation.rest ? rest : others;
    const runOf = (selected: readonly Selected[]): Run => {
      let document: { readonly document: DocumentNode; readonly operation: OperationDefinitionNode } | undefined;
      const write = tool.isWrite ? undefined : writerOf(field, selected);
      return {
        selected,
        async run(args, context) {
          const coerced = write && coerceArguments(field.args, args);
          const written = coerced && (await write(coerced, context));
          if (write) onWritable?.(typeof written === 'object' ? undefined : (written ?? 'arguments'));
          if (typeof written === 'object') return written.text;
          document ??= documentOf(runner.schema, tool, selected);
          const { data, errors } = await runner.execute({
            ...document,
            contextValue: context,
            variableValues: args,
          });
          if (errors?.[0]) throw errors[0];
          const value = data?.[operation.name];
          return tool.isWrite ? JSON.stringify(value) : await answerText(value, context);
        },
      };
    };
    const whole = everyField(field.type);
    const all = runOf(whole);
    const isNarrower = rows !== undefined && rows.usual.length < rows.all.length;
    return {
      all,
      usual: isNarrower ? runOf(whole.map((one) => (one.key === ROWS ? only(one, rows.usual) : one))) : all,
    };
  };
}

/** A selection of rows with the named members only. */
function only(rows: Selected, names: readonly string[]): Selected {
  return { ...rows, selected: rows.selected.filter(({ key }) => names.includes(key)) };
}

/** The operation as GraphQL, with each argument as a variable. */
function documentOf(schema: GraphQLSchema, { operation: { kind, name } }: Tool, selected: readonly Selected[]) {
  const root = kind === 'Query' ? schema.getQueryType() : schema.getMutationType();
  const args = (root?.getFields()[name] as Field | undefined)?.args ?? [];
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(', ');
  const given = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const call = args.length === 0 ? name : `${name}(${given})`;
  const text = `${kind === 'Query' ? 'query' : 'mutation'}${args.length === 0 ? '' : `(${variables})`} { ${call}${selectionText(selected)} }`;
  const document = parse(text, { noLocation: true });
  const operation = getOperationAST(document);
  if (!operation) throw new Error(`no operation for the tool ${name}`);
  return { document, operation };
}

function selectionText(selected: readonly Selected[]): string {
  if (selected.length === 0) return '';
  return ` { ${selected.map((one) => one.key + selectionText(one.selected)).join(' ')} }`;
}
