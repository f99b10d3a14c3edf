import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { useSofa } from 'sofa-api';
import type { CallContext } from '../operations/context';
import { answerText } from '../operations/answers';
import type { Executable } from '../operations/runner';
import type { Field } from '../operations/selection';
import { answersPage, type Arguments, includedIn, type RestOperation } from './routes';

interface Page {
  readonly next_cursor?: string | null;
}

/** Runs the generated route of an operation. Rethrows the operation's error. */
export type RouteHandler = (args: Arguments, context: CallContext) => Promise<RouteAnswer>;

export interface RouteAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  /** The cursor of the next page, if the body is a page and has one. */
  readonly next?: string | undefined;
}

/** The context of Sofa's handlers: what the execute hook needs to know about a call. */
interface SofaCall {
  readonly context: CallContext;
  /** Arguments that are null, which Sofa drops. */
  readonly nulls?: Arguments;
  /** Fields to leave out: Sofa selects all, even those that need `include`. */
  readonly omitted: readonly string[];
  /** What to run for the call's route, by the fields left out. */
  readonly runnables: Map<string, Runnable>;
  /** The value of the root field, which Sofa would write in one turn of the event loop, however long it is. */
  value?: unknown;
}

interface SofaRoute {
  readonly path: string;
  readonly method: string;
  readonly handler: (request: object, call: SofaCall) => Promise<Response>;
}

interface Runnable {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Handlers of the routes that Sofa generates from the REST schema. They rethrow the errors of operations. */
export function sofaHandlers(
  { schema, execute }: Executable,
  operations: readonly RestOperation[],
): (operation: RestOperation, field: Field) => RouteHandler {
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
    execute: async ({ document, contextValue, variableValues }: ExecutionArgs): Promise<ExecutionResult> => {
      const call = contextValue as SofaCall;
      const { context, nulls, omitted, runnables } = call;
      const id = omitted.join();
      let runnable = runnables.get(id);
      if (!runnable) runnables.set(id, (runnable = runnableOf(document, omitted)));
      const variables = { ...variableValues, ...nulls };
      const result = await execute({ ...runnable, contextValue: context, variableValues: variables });
      if (result.errors) return result;
      const [[name, value] = ['', null]] = Object.entries(result.data ?? {});
      call.value = value;
      return { data: { [name]: null } };
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

function runnableOf(all: DocumentNode, omitted: readonly string[]): Runnable {
  const document = visit(all, { Field: ({ name }) => (omitted.includes(name.value) ? null : undefined) });
  const operation = getOperationAST(document);
  if (!operation) throw new Error('Sofa sent no operation');
  return { document, operation };
}

/**
 * Calls a route's handler directly, with checked arguments: matching the route again would cost 55 µs per request, and parsing the arguments
 * again would coerce them.
 */
function handlerOf(route: SofaRoute, { kind, rest }: RestOperation, field: Field): RouteHandler {
  // Sofa looks for arguments here first; without an undefined entry for each missing one, Sofa would parse the query again
  const missing = Object.fromEntries(field.args.map((argument) => [argument.name, undefined]));
  const isPage = answersPage(field);
  const runnables = new Map<string, Runnable>();
  return async (args, context) => {
    // in a PATCH null clears a member, and what is left out keeps its value
    const nulls = rest.method === 'PATCH' && Object.entries(args).filter(([, value]) => value === null);
    const included = includedIn(args);
    const omitted = included.length === 0 ? rest.omits : rest.omits.filter((name) => !included.includes(name));
    const call: SofaCall = { context, omitted, runnables, ...(nulls && { nulls: Object.fromEntries(nulls) }) };
    const { status } = await route.handler({ url: '', body: null, params: { ...missing, ...args } }, call);
    const { value } = call;
    // the answer to a write is one object or a report, and must not be refused after the write
    const body = kind === 'Query' ? await answerText(value, context) : JSON.stringify(value);
    return { status, body, next: isPage ? ((value as Page | null)?.next_cursor ?? undefined) : undefined };
  };
}
