import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { useSofa } from 'sofa-api';
import type { CallContext } from '../operations/context';
import type { Answer, Run } from '../operations/runner';
import type { Field } from '../operations/selection';
import type { RestOperation } from '../schema/declaredOperations';
import type { Arguments } from './routes';

/* The routes that Sofa generates from the REST schema, called directly (docs/decisions/rest-through-sofa.md). */

/** Runs the generated route of an operation. @throws the operation's error */
export type RouteHandler = (run: Run, args: Arguments, context: CallContext) => Promise<Answer>;

/** The context of Sofa's handlers. */
interface SofaCall {
  /** Runs what the call selects: Sofa's own document has every field, even those that need `include`. */
  readonly resolve: (variables: Arguments) => Promise<Answer>;
  readonly name: string;
  /** What was answered: Sofa would write it in one turn of the event loop, however long it is. */
  answer?: Answer;
}

interface SofaRoute {
  readonly path: string;
  readonly method: string;
  readonly handler: (request: object, call: SofaCall) => Promise<Response>;
}

/** Finds the handlers of the routes that Sofa generates from the REST schema. */
export function sofaHandlers(
  schema: GraphQLSchema,
  operations: readonly RestOperation[],
): (operation: RestOperation, field: Pick<Field, 'args'>) => RouteHandler {
  const router = useSofa({
    basePath: '',
    schema,
    routes: Object.fromEntries(
      operations.map(({ kind, name, rest }) => [
        `${kind}.${name}`,
        { method: rest.method, path: rest.path, responseStatus: rest.status as 200 },
      ]),
    ),
    context: (call: object) => call,
    execute: async ({ contextValue, variableValues }: ExecutionArgs): Promise<ExecutionResult> => {
      const call = contextValue as SofaCall;
      call.answer = await call.resolve({ ...variableValues });
      return { data: { [call.name]: null } };
    },
    errorHandler: ([error]) => {
      throw error;
    },
    openAPI: { endpoint: false },
    swaggerUI: { endpoint: false },
  });
  const { __routes: routes } = router as unknown as { __routes: readonly SofaRoute[] };
  return (operation, field) => {
    const { path, method } = operation.rest;
    const route = routes.find((candidate) => candidate.path === path && candidate.method === method);
    if (!route) throw new Error(`Sofa made no route for ${operation.name}`);
    return handlerOf(route, operation, field);
  };
}

/**
 * Calls a route's handler directly, with checked arguments: matching the route again would cost 55 µs per request, and parsing the query
 * again would coerce the arguments. Sofa passes each through its scalar's `serialize`, which therefore takes valid input, too (schema/scalars.ts).
 */
function handlerOf(route: SofaRoute, { name, rest }: RestOperation, field: Pick<Field, 'args'>): RouteHandler {
  // Sofa looks for arguments here first; without an undefined entry for each missing one, Sofa would parse the query again
  const absentArguments = Object.fromEntries(field.args.map((argument) => [argument.name, undefined]));
  return async (run, args, context) => {
    // Sofa drops null, which in a PATCH clears a member; what is left out keeps its value
    const nulls =
      rest.method === 'PATCH' ? Object.fromEntries(Object.entries(args).filter(([, value]) => value === null)) : {};
    const call: SofaCall = { name, resolve: (variables) => run.resolve({ ...variables, ...nulls }, context) };
    await route.handler({ url: '', body: null, params: { ...absentArguments, ...args } }, call);
    if (!call.answer) throw new Error(`Sofa did not run ${rest.path}`);
    return call.answer;
  };
}
