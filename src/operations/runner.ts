import type { GraphQLSchema } from 'graphql';
import type { Operation } from '../schema/declaredOperations';
import { type ArgumentChecks, argumentChecks, coerceArguments } from './argumentChecks';
import type { Schemas } from './build';
import type { RequestContext } from './context';
import { withRawElements } from './elements';
import { createExecutor, type Execute } from './execution';
import { type OnFastRead, runOf } from './run';
import { type Field, rootField, type Selected, type Written } from './selection';

/* Operations that are called one at a time: over REST and MCP. */

export interface Runner {
  readonly schemas: Schemas;
  /** The schema with all routes, and what executes its operations. */
  readonly routes: Executable;
  /** How an operation is run, if a schema that is called so has it. */
  readonly of: (operation: Operation) => Runnable | undefined;
}

export interface Executable {
  readonly schema: GraphQLSchema;
  readonly execute: Execute;
}

export interface Runnable extends Executable {
  readonly field: Field;
  readonly checks: ArgumentChecks;
  /** Runs it for a selection with arguments that are checked: from the database's bytes if that works, otherwise the usual way. */
  readonly reader: (selected: readonly Selected[]) => Reader;
}

export type Reader = <Answer>(
  args: Readonly<Record<string, unknown>>,
  context: RequestContext,
  usual: () => Promise<Answer>,
) => Promise<Written | Answer>;

export function createRunner(schemas: Schemas, onFastRead?: OnFastRead): Runner {
  const { rest, graphql, operations } = schemas;
  // one operation for each route or tool, which does not depend on what callers send: compiled at first use
  const executable = (schema: GraphQLSchema): Executable => ({
    schema,
    execute: createExecutor(schema, { compiledFrom: 1 }),
  });
  const checksOf = (schema: GraphQLSchema, hasRoute: boolean) => {
    const named = operations.filter((operation) => (operation.rest !== undefined) === hasRoute);
    const checked = named.flatMap((operation) => {
      const field = rootField(schema, operation);
      return field ? [{ type: operation.kind, field: field as never }] : [];
    });
    return argumentChecks(schema, checked, { rawElements: hasRoute });
  };
  const parts = {
    routes: { ...executable(withRawElements(rest)), fields: rest, checksOf: checksOf(rest, true) },
    others: { ...executable(graphql), fields: graphql, checksOf: checksOf(graphql, false) },
  };
  return {
    schemas,
    routes: parts.routes,
    of(operation) {
      const { schema, execute, fields, checksOf: checks } = operation.rest ? parts.routes : parts.others;
      const field = rootField(fields, operation);
      if (!field) return undefined;
      return {
        ...{ schema, execute, field, checks: checks({ type: operation.kind, field: field as never }) },
        reader(selected) {
          const run = runOf(field, selected, onFastRead);
          if (!run) return (_args, _context, usual) => usual();
          return (args, context, usual) => run(() => coerceArguments(field.args, args), context, usual);
        },
      };
    },
  };
}
