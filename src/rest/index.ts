import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { compress } from '../http/compression';
import { acceptsGzip, methodNotAllowed, soleAuthorization } from '../http/requestHead';
import type { BestEffortRecognise } from '../auth/recognise';
import type { OpenContext, CallContext } from '../operations/context';
import { AppError } from '../errors';
import { bytesOf, JSON_TYPE, send, setSunsetHeaders } from '../http/answer';
import { type Exchange, createIncomingRequest, waitIdle } from '../http/exchange';
import { isLargePage } from '../admission/requestQueue';
import type { Answer, Run, Runner } from '../operations/runner';
import { everyField, type Field } from '../operations/selection';
import { entityTag, matchesTag, objectTag, requireVersion } from '../schema/entityTags';
import { createWriteHint } from './writeHint';
import {
  argumentReader,
  type Arguments,
  createRouter,
  hasEntityTag,
  includedIn,
  locationOf,
  readsOneObject,
  restOperations,
} from './routes';
import type { RouteHandler } from './sofa';
import type { RestOperation } from '../schema/declaredOperations';
import { REST_BASE } from '../units';

/** Path of the REST API of operators. */
export const OPERATOR_BASE = '/operator/v1';

type Route = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>;

interface RestOptions {
  /** Path prefix of its routes (default: {@link REST_BASE}). */
  readonly base?: string;
  readonly runner: Runner;
  readonly openContext: OpenContext;
  /** Routes that are no operations of the schema, with what answers them from the key on. */
  readonly others?: ReadonlyMap<RestOperation, Route> | undefined;
  /** Identifies the caller of an unknown route, for the request log; undefined for callers without one. */
  readonly recognise?: BestEffortRecognise;
  /** Prefix of links to pages, for clients that need absolute URLs. */
  readonly publicUrl?: string | undefined;
  /** Makes the OpenAPI document, once it is asked for. */
  readonly document: () => object;
  /** Whether answers are compressed, for callers who accept that. */
  readonly compresses?: boolean;
}

/**
 * Answers exchanges below `base`, or throws the AppError to answer with. Checks in the order of contract, section 2: route, method, key,
 * rate, plan, scope, headers, parameters, body.
 */
export function createRestApi(options: RestOptions): (exchange: Exchange) => Promise<void> {
  const { base = REST_BASE, runner, openContext, recognise, others = new Map<RestOperation, Route>() } = options;
  const openApi = openApiAnswer(options.document);
  const operations = [...runner.schemas.operations, ...others.keys()];
  const router = createRouter(operations);
  const writeHint = createWriteHint(operations, base);
  const steps = stepsOf(runner);

  /** Notes the caller of an unknown route, for its usage and the request log. */
  async function noteCaller(exchange: Exchange): Promise<void> {
    if (!recognise) return;
    const { request, address, log } = exchange;
    // the 404 or 405 needs no database, so it must not turn into a 503 while the database is down
    const caller = await waitIdle(exchange, () => recognise(soleAuthorization(request), address));
    if (caller && 'reason' in caller) log.refusal = caller;
    else if (caller) log.principal = caller;
  }

  return async (exchange) => {
    const path = exchange.path.slice(base.length);
    if (path === '/openapi.json') {
      openApi(exchange);
      return;
    }
    const match = router(path);
    const operation = match?.methods.get(methodOf(exchange));
    if (!match || !operation) {
      await noteCaller(exchange);
      if (!match) throw new AppError('not_found', 'There is no such route.');
      throw methodNotAllowed(exchange.request, [...match.methods.keys()], writeHint(match, exchange.request));
    }
    exchange.log.operation = operation.name;
    const other = others.get(operation);
    if (other) {
      await other(exchange, match.params);
      return;
    }
    const step = steps.get(operation);
    if (!step) throw new Error(`no route for ${exchange.path}`);
    if (operation.sunset) setSunsetHeaders(exchange.response, [operation.sunset]);
    /** Everything from the scope on; for an expected caller, it begins while the key is read. */
    const runFor = async (context: CallContext) => {
      context.authorise(operation);
      const args = await step.read(exchange, match.params);
      // only a query is sure to have parameters by these names: of a write, they may be members of one's own
      const included = step.isQuery ? includedIn(args) : [];
      for (const include of operation.rest.includes) if (included.includes(include.name)) context.authorise(include);
      const takesTurn = included.length > 0 || (step.isQuery && isLargePage(args));
      const withTurn = takesTurn ? await takeTurn(exchange, context, included.length === 0) : context;
      const answered = await step.run(args, included, withIfNoneMatch(exchange, operation, withTurn));
      return { ...answered, isWhole: included.length === 0 && answered.isPartial !== true };
    };
    let expected: { readonly context: CallContext; readonly passed: ReturnType<typeof runFor> } | undefined;
    const begin = (early: CallContext): void => {
      expected = { context: early, passed: runFor(early) };
      // an accepted request awaits it, and gets its error
      expected.passed.catch(() => undefined);
    };
    const context = await openContext(createIncomingRequest(exchange), step.mayBegin ? begin : undefined);
    const { text, next, isWhole } = await (expected?.context === context ? expected.passed : runFor(context));
    const status = context.isExisting ? 200 : operation.rest.status;
    const created = step.location === undefined ? undefined : base + step.location;
    await answer(exchange, step, { status, body: text, next: next ?? undefined, created, isWhole }, options);
  };
}

/** Takes the turn of a large page. A read that begins before its caller's key was read also begins before its turn, and is answered after both. */
async function takeTurn(exchange: Exchange, context: CallContext, mayBegin: boolean): Promise<CallContext> {
  const turn = Promise.resolve(context.accepted).then(() => exchange.queue.take(exchange, 'page'));
  if (!context.accepted || !mayBegin) {
    await turn;
    return context;
  }
  // the read awaits it, unless it fails before
  turn.catch(() => undefined);
  return Object.create(context, { accepted: { value: turn } }) as CallContext;
}

/** The context, with the If-None-Match of a write that may depend on the version of its object. */
function withIfNoneMatch({ request }: Exchange, { takesIfMatch }: RestOperation, context: CallContext): CallContext {
  const { 'if-none-match': ifNoneMatch } = request.headers;
  if (ifNoneMatch === undefined || !takesIfMatch) return context;
  // a copy would keep what its accessors, such as isExisting, say now
  return Object.create(context, { ifNoneMatch: { value: ifNoneMatch } }) as CallContext;
}

/** Whether the caller has the version with this tag. */
function isCurrent({ request }: Exchange, tag: string): boolean {
  return matchesTag(request.headers['if-none-match'], tag);
}

function sendNotModified({ response }: Exchange): void {
  response.statusCode = 304;
  response.end();
}

/** Answers with the OpenAPI document, made for the first request; gzip makes it a tenth of the size. */
function openApiAnswer(make: () => object): (exchange: Exchange) => void {
  let made: { readonly bytes: Buffer; readonly tag: string } | undefined;
  let zipped: Buffer | undefined;
  return (exchange) => {
    if (methodOf(exchange) !== 'GET') throw methodNotAllowed(exchange.request, ['GET']);
    if (!made) {
      const bytes = Buffer.from(JSON.stringify(make()));
      made = { bytes, tag: entityTag(bytes) };
    }
    const { bytes, tag } = made;
    const { request, response } = exchange;
    response.setHeader('Cache-Control', 'no-cache');
    response.appendHeader('Vary', 'Accept-Encoding');
    // weak, since it is the same for all encodings
    response.setHeader('ETag', `W/${tag}`);
    if (isCurrent(exchange, tag)) {
      sendNotModified(exchange);
      return;
    }
    const isZipped = acceptsGzip(request);
    if (isZipped) response.setHeader('Content-Encoding', 'gzip');
    send(exchange, 200, JSON_TYPE, isZipped ? (zipped ??= gzipSync(bytes)) : bytes);
  };
}

/** How to run each operation: by a fast read where possible, otherwise through its Sofa route. */
function stepsOf(runner: Runner) {
  const operations = restOperations(runner.schemas.operations);
  // loaded on first use: at startup, it would take a fifth of the time spent on loading packages
  let loading: Promise<(operation: RestOperation, field: Field) => RouteHandler> | undefined;
  const sofa = (): NonNullable<typeof loading> =>
    (loading ??= import('./sofa.js').then(({ sofaHandlers }) => sofaHandlers(runner.routes, operations)));
  return new Map(
    operations.map((operation) => {
      const runnable = runner.of(operation);
      if (!runnable) throw new Error(`${operation.name} is not in the REST schema`);
      const { field, checks, runOf } = runnable;
      let handle: RouteHandler | undefined;
      const plain = runOf(everyField(field.type));
      const runs = new Map<string, Run>([['', plain]]);
      const runWith = (included: readonly string[]): Run => {
        const names = included.join();
        let run = runs.get(names);
        if (!run) runs.set(names, (run = runOf(everyField(field.type, included))));
        return run;
      };
      const run = async (args: Arguments, included: readonly string[], context: CallContext): Promise<Answer> => {
        const selected = runWith(included);
        const read = await selected.read?.(args, context);
        return read ?? (handle ??= (await sofa())(operation, field))(selected, args, context);
      };
      const location = locationOf(operation, runner.schemas.operations);
      const read = argumentReader(operation, field, checks);
      const readsOne = readsOneObject(operation);
      const isQuery = operation.kind === 'Query';
      const mayBegin = plain.read !== undefined && isQuery;
      const hasTag = hasEntityTag(operation);
      return [operation, { read, run, mayBegin, location, readsOne, hasTag, isQuery }] as const;
    }),
  );
}

type Step = Pick<ReturnType<ReturnType<typeof stepsOf>['get']> & object, 'readsOne' | 'hasTag' | 'isQuery'>;

/** The method to look up; HEAD is handled as GET. */
function methodOf({ request: { method = '' } }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method;
}

/** Retry-After of a 202, in seconds: when to ask for the job. */
const POLL_AFTER = 2;

interface RestAnswer {
  readonly status: number;
  readonly body: Buffer | string;
  /** The cursor of the next page. */
  readonly next: string | undefined;
  /** Whether the answer is the object, all of it and nothing else. */
  readonly isWhole: boolean;
  /** Path prefix of the created object. */
  readonly created: string | undefined;
}

async function answer(
  exchange: Exchange,
  { readsOne, hasTag, isQuery }: Step,
  { status, body, next, isWhole, created }: RestAnswer,
  { publicUrl = '', compresses }: Pick<RestOptions, 'publicUrl' | 'compresses'>,
): Promise<void> {
  const { request, response, path, search } = exchange;
  // an ETag covers the object alone, so an answer with included relations has none; nor has one that does not tell all of it
  const tag = isWhole && hasTag ? objectTag(body) : undefined;
  // its form was checked with the parameters
  if (readsOne) requireVersion({ ifMatch: request.headers['if-match'] }, () => tag);
  const isUnchanged = readsOne && tag !== undefined && isCurrent(exchange, tag);
  const bytes = bytesOf(body);
  // before the headers, which its 503 must not have
  if (!isUnchanged && request.method !== 'HEAD') exchange.bodies.holdAnswer(exchange, bytes.length, isQuery);
  if (created !== undefined) response.setHeader('Location', `${publicUrl}${created}/${idOf(body)}`);
  if (status === 202) response.setHeader('Retry-After', POLL_AFTER);
  if (next !== undefined) setLink(response, `${publicUrl}${path}${withCursor(search, next)}`);
  if (tag !== undefined) response.setHeader('ETag', tag);
  if (tag !== undefined && readsOne) response.setHeader('Cache-Control', 'private, no-cache');
  if (isUnchanged) sendNotModified(exchange);
  else send(exchange, status, JSON_TYPE, compresses ? await compress(exchange, bytes) : bytes);
}

function idOf(created: string | Buffer): string {
  return (JSON.parse(created.toString()) as { id: string }).id;
}

/** The longest Link, in bytes: proxies give all headers of an answer 4 or 8 kB, and answer 502 if they are longer. */
const LONGEST_LINK = 1024;

/** Links the next page, unless the caller's query makes that too long; the body has its cursor. */
function setLink(response: ServerResponse, next: string): void {
  const link = `<${next}>; rel="next"`;
  if (link.length <= LONGEST_LINK) response.setHeader('Link', link);
}

/** The caller's query with the cursor of the next page. */
function withCursor(search: string, cursor: string): string {
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  return `?${query.toString()}`;
}
