import {
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLField,
  type GraphQLSchema,
  OperationTypeNode,
} from 'graphql';
import { useSofa } from 'sofa-api';
import type { RequestContext } from '../operations/context';
import { answerText } from '../operations/answerText';
import { createExecutor } from '../operations/execution';
import type { Operation } from '../schema/declaredOperations';
import { asksForAll } from './openapi/include';
import { answersPage } from './openapi/links';
import { withRawElements } from '../operations/elements';
import { type Arguments, listWithAll, type RestOperation, restOperations } from './routes/routes';

/** Runs the generated route of an operation. Rethrows the operation's error. */
export type RouteHandler = (args: Arguments, context: RequestContext) => Promise<RouteAnswer>;

export interface RouteAnswer {
  readonly status: number;
  /** The JSON text. */
  readonly body: string | Buffer;
  /** The id in it, if it is an object. */
  readonly id?: unknown;
  /** The cursor in it, if it is a page with a next one. */
  readonly next?: string | undefined;
}

const FAILED = 599;

/** Passes data through Sofa and back, as the context of a request. */
interface SofaCall {
  readonly context: RequestContext;
  /** Arguments that are null, which Sofa leaves out. */
  readonly nulls?: Arguments;
  /** The result of the operation. */
  value?: unknown;
}

export interface SofaRouter {
  /** Sofa's normal entry point, which matches the path and parses the request. */
  fetch(request: Request, call: SofaCall): Promise<Response>;
  readonly routes: readonly SofaRoute[];
  /** Errors of operations, by the response that Sofa returned for them. */
  readonly failures: WeakMap<object, unknown>;
}

interface SofaRoute {
  readonly path: string;
  readonly method: string;
  readonly handler: (request: object, call: SofaCall) => Promise<Response>;
}

/**
 * The routes that Sofa generates from the REST schema. With `valuesAlone` their responses have no body, for callers that
 * serialise the values themselves.
 */
export function createSofaRouter(
  published: GraphQLSchema,
  operations: readonly Operation[],
  { valuesAlone = false } = {},
): SofaRouter {
  // compile every operation at first use, since there is only one per route
  const schema = withRawElements(published);
  const execute = createExecutor(schema, { compiledFrom: 1 });
  const failures = new WeakMap<object, unknown>();
  const router = useSofa({
    basePath: '/api/v1',
    schema,
    routes: Object.fromEntries(
      restOperations(operations).map(({ kind, name, rest }) => [
        `${kind}.${name}`,
        { method: rest.method, path: rest.path, responseStatus: rest.status as 200 },
      ]),
    ),
    context: (call: object) => call,
    execute: async (args: ExecutionArgs): Promise<ExecutionResult> => {
      const { document, contextValue, variableValues } = args;
      const operation = getOperationAST(document);
      if (!operation) throw new Error('Sofa sent no operation');
      const call = contextValue as SofaCall;
      const variables = { ...variableValues, ...call.nulls };
      const result = await execute({ document, operation, contextValue: call.context, variableValues: variables });
      if (!valuesAlone || result.errors) return result;
      const [field = ''] = Object.keys(result.data ?? {});
      call.value = result.data?.[field];
      return { data: { [field]: null } };
    },
    errorHandler: (errors) => {
      const response = new Response(null, { status: FAILED });
      failures.set(response, errors[0]);
      return response as never;
    },
    openAPI: { endpoint: false },
    swaggerUI: { endpoint: false },
  });
  const { __routes: routes } = router as unknown as { __routes: readonly SofaRoute[] };
  return { fetch: async (request, call) => router.fetch(request, call), routes, failures };
}

/**
 * Calls Sofa's handlers directly with the validated arguments: matching the route again would cost 55 µs per request, and
 * parsing the arguments again would coerce them. With `include`, a list's handler is that of its twin. A test checks that the result is the same.
 */
export function sofaRoutes(
  schema: GraphQLSchema,
  operations: readonly Operation[],
): (operation: RestOperation) => RouteHandler {
  const all = [...operations, ...restOperations(operations).flatMap((operation) => listWithAll(operation) ?? [])];
  const { routes, failures } = createSofaRouter(schema, all, { valuesAlone: true });
  const handlerOf = (operation: RestOperation): RouteHandler => {
    const { name, rest } = operation;
    const route = routes.find((candidate) => candidate.path === rest.path && candidate.method === rest.method);
    if (!route) throw new Error(`Sofa made no route for ${name}`);
    const field = fieldOf(schema, operation);
    const [request, isPage] = [sofaRequest(field), field !== undefined && answersPage({ type: field.type })];
    return async (args, context) => {
      // in a PATCH null clears a member, and what is left out keeps its value
      const nulls = rest.method === 'PATCH' && Object.entries(args).filter(([, value]) => value === null);
      const call: SofaCall = { context, ...(nulls && { nulls: Object.fromEntries(nulls) }) };
      const response = await route.handler(request(args), call);
      if (failures.has(response)) throw failures.get(response);
      const { value } = call;
      const { id, next_cursor: next } = (value ?? {}) as { id?: unknown; next_cursor?: unknown };
      // the answer to a write is bounded by its body, and must not fail after the write
      const body = operation.kind === 'Query' ? await answerText(value, context) : JSON.stringify(value);
      return { status: response.status, body, id, next: isPage && typeof next === 'string' ? next : undefined };
    };
  };
  return (operation) => {
    const [plain, twin] = [handlerOf(operation), listWithAll(operation)];
    if (!twin) return plain;
    const withAll = handlerOf(twin);
    return (args, context) => {
      const { include: _include, ...others } = args;
      return (asksForAll(args) ? withAll : plain)(others, context);
    };
  };
}

function fieldOf(schema: GraphQLSchema, { kind, name }: RestOperation): GraphQLField<unknown, never> | undefined {
  const root = kind === 'Query' ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION;
  return schema.getRootType(root)?.getFields()[name];
}

/**
 * The request for Sofa's handlers: all arguments are passed as path parameters, which are read first. Missing arguments are
 * passed as undefined, otherwise Sofa would parse the query again for each of them.
 */
function sofaRequest(field: GraphQLField<unknown, never> | undefined): (args: Arguments) => object {
  const left = Object.fromEntries((field?.args ?? []).map((argument) => [argument.name, undefined]));
  return (args) => ({ url: '', body: null, params: { ...left, ...args } });
}
