import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { useSofa } from 'sofa-api';
import type { RequestContext } from '../operations/context';
import { requireFits } from '../operations/answers';
import type { Executable } from '../operations/runner';
import type { Field } from '../operations/selection';
import { answersPage, type Arguments, includedIn, type RestOperation } from './routes';

/** Runs the generated route of an operation. Rethrows the operation's error. */
export type RouteHandler = (args: Arguments, context: RequestContext) => Promise<RouteAnswer>;

export interface RouteAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  /** The cursor in it, if it is a page with a next one. */
  readonly next?: string | undefined;
}

/** What the execute hook needs of a request, as the context of Sofa's handlers. */
interface SofaCall {
  readonly context: RequestContext;
  /** Arguments that are null, which Sofa drops. */
  readonly nulls?: Arguments;
  /** Fields that `include` names. The others that need it are removed, since Sofa selects all. */
  readonly included?: readonly string[];
}

interface SofaRouter {
  /** Sofa's normal entry point, which matches the path and parses the request. */
  fetch(request: Request, call: SofaCall): Promise<Response>;
  readonly routes: readonly SofaRoute[];
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

/** The routes that Sofa generates from the REST schema. Its handlers throw the errors of operations. */
export function createSofaRouter(
  { schema, execute }: Executable,
  operations: readonly RestOperation[],
  basePath = '/api/v1',
): SofaRouter {
  const omits = new Map(operations.map(({ name, rest }) => [name, rest.omits]));
  // by document: Sofa uses the same one for each call of a route
  const known = new Map<DocumentNode, (included: readonly string[]) => Runnable>();
  const runnableFor = (document: DocumentNode, included: readonly string[]): Runnable => {
    let runnables = known.get(document);
    if (!runnables) known.set(document, (runnables = runnablesOf(document, omits)));
    return runnables(included);
  };
  const router = useSofa({
    basePath,
    schema,
    routes: Object.fromEntries(
      operations.map(({ kind, name, rest }) => [
        `${kind}.${name}`,
        { method: rest.method, path: rest.path, responseStatus: rest.status as 200 },
      ]),
    ),
    context: (call: object) => call,
    execute: ({ document, contextValue, variableValues }: ExecutionArgs): Promise<ExecutionResult> => {
      const { context, nulls, included = [] } = contextValue as SofaCall;
      const variables = { ...variableValues, ...nulls };
      return execute({ ...runnableFor(document, included), contextValue: context, variableValues: variables });
    },
    errorHandler: ([error]) => {
      throw error;
    },
    openAPI: { endpoint: false },
    swaggerUI: { endpoint: false },
  });
  const { __routes: routes } = router as unknown as { __routes: readonly SofaRoute[] };
  return { fetch: async (request, call) => router.fetch(request, call), routes };
}

/** What to run for Sofa's document: without the fields that the route omits, unless they are included. */
function runnablesOf(
  document: DocumentNode,
  omits: ReadonlyMap<string, readonly string[]>,
): (included: readonly string[]) => Runnable {
  const [root] = runnableOf(document).operation.selectionSet.selections;
  const all = (root && 'name' in root ? omits.get(root.name.value) : undefined) ?? [];
  const made = new Map<string, Runnable>();
  return (included) => {
    const omitted = all.filter((name) => !included.includes(name));
    const id = omitted.join();
    const runnable = made.get(id) ?? runnableOf(omitted.length === 0 ? document : withoutFields(document, omitted));
    made.set(id, runnable);
    return runnable;
  };
}

function runnableOf(document: DocumentNode): Runnable {
  const operation = getOperationAST(document);
  if (!operation) throw new Error('Sofa sent no operation');
  return { document, operation };
}

function withoutFields(document: DocumentNode, omitted: readonly string[]): DocumentNode {
  return visit(document, { Field: ({ name }) => (omitted.includes(name.value) ? null : undefined) });
}

/**
 * Calls the handler of an operation directly, with its checked arguments: matching the route again would cost 55 µs per request, and
 * parsing the arguments again would coerce them.
 */
export function sofaHandler({ routes }: SofaRouter, { kind, name, rest }: RestOperation, field: Field): RouteHandler {
  const route = routes.find((candidate) => candidate.path === rest.path && candidate.method === rest.method);
  if (!route) throw new Error(`Sofa made no route for ${name}`);
  // Sofa looks for arguments here first; without an undefined entry for each missing one, it would parse the query again
  const missing = Object.fromEntries(field.args.map((argument) => [argument.name, undefined]));
  const isPage = answersPage(field);
  return async (args, context) => {
    // in a PATCH null clears a member, and what is left out keeps its value
    const nulls = rest.method === 'PATCH' && Object.entries(args).filter(([, value]) => value === null);
    const call = { context, included: includedIn(args), ...(nulls && { nulls: Object.fromEntries(nulls) }) };
    const response = await route.handler({ url: '', body: null, params: { ...missing, ...args } }, call);
    const body = await response.text();
    // the answer to a write is bounded by its body, and must not fail after the write
    if (kind === 'Query') requireFits(Buffer.byteLength(body));
    return { status: response.status, body, next: isPage ? nextOf(body) : undefined };
  };
}

/** The cursor of the next page: no text in the page can match, since JSON escapes its quotes. */
function nextOf(page: string): string | undefined {
  return /"next_cursor":"([^"]+)"/.exec(page)?.[1];
}
