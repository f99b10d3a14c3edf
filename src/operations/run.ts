import { type FieldNode, type GraphQLFieldResolver, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Scope } from '../auth/scopes';
import { AppError } from '../errors';
import { normaliseKeys } from '../schema/callerKeys';
import { type Access, accessOf, type Operation, perElement } from '../schema/declaredOperations';
import { objectFields } from '../schema/jsonSchema';
import { directiveOf } from '../schema/sdl';
import { argumentChecks } from './argumentChecks';
import type { CallContext, DataContext } from './context';
import { figureRows, requireNamesOnly } from './figures';
import type { FallbackReason, FastRead, FastReadOf, Field, ReadOutcome, Selected, Written } from './selection';
import { requireTold } from './toldMembers';

/*
 * How every API runs an operation: access, arguments, Idempotency-Key, then a fast read from the database's bytes, or else the resolver.
 * In GraphQL, access and arguments are checked around each guarded field. REST and MCP call operations one at a time, and check both
 * before they read a page or a body.
 */

/** A resolver of the public schema, or of another schema with its own callers. */
export type Resolver<Context extends CallContext = DataContext> = GraphQLFieldResolver<unknown, Context> & {
  /** Its fast read, if it has one. */
  readonly fastReadOf?: FastReadOf;
};
/** Of any callers: who may call a field is up to its guard. */
export type Resolvers = Record<string, Record<string, Resolver<never>>>;

/** All resolvers by type and field; a later one replaces an earlier one of the same field. */
export function mergeResolvers(...parts: readonly object[]): Resolvers {
  const all: Resolvers = {};
  for (const part of parts) {
    for (const [type, fields] of Object.entries(part as Resolvers)) all[type] = { ...all[type], ...fields };
  }
  return all;
}

interface GuardOptions {
  readonly resolvers: Resolvers;
  readonly operations: readonly Operation[];
  /** A key needs one of these scopes to receive events. */
  readonly eventScopes: readonly Scope[];
  /** Whether access and arguments of root fields were already checked, as REST and MCP do. */
  readonly rootsAreChecked: boolean;
}

/** Guards every field with @access, and checks the arguments of other fields of rows: if a check refuses one of these, it is null. */
export function guardFields(schema: GraphQLSchema, options: GuardOptions): void {
  const { resolvers, operations, eventScopes, rootsAreChecked } = options;
  const roots = Object.values(OperationTypeNode).map((kind) => schema.getRootType(kind)?.name);
  const guarded = objectFields(schema).filter(
    ({ type, field: { astNode, args } }) =>
      directiveOf(astNode, 'access') ?? (!roots.includes(type) && args.length > 0),
  );
  const checksOf = argumentChecks(schema, guarded);
  const figures = figureRows(schema);
  const accessTo = (type: string, node: Parameters<typeof accessOf>[0]): Access => {
    const access = accessOf(node, eventScopes);
    return figures.has(type) ? { ...access, isFigure: true } : access;
  };
  for (const { type, field } of guarded) {
    const isRoot = roots.includes(type);
    const check =
      isRoot && rootsAreChecked
        ? undefined
        : checkOf(directiveOf(field.astNode, 'access') && accessTo(type, field.astNode), checksOf({ type, field }).all);
    // a subscription is checked when it begins, not for each event
    if (field.subscribe) {
      field.subscribe = guard(field.subscribe as Guarded, check);
      continue;
    }
    const resolve = field.resolve as Guarded;
    if (check && !isRoot) {
      field.resolve = guardRows(resolve, check);
      continue;
    }
    // only GraphQL's selections need a check: REST and MCP, whose roots are checked, select all
    const operation = check && operations.find(({ kind, name }) => kind === type && name === field.name);
    const writeOnce = perElement(field.args).length > 0 ? withElementsNoted(once(resolve)) : once(resolve);
    field.resolve = guard(
      withSelectionCheck(operation, type === 'Mutation' ? whileAwaited(writeOnce) : resolve),
      check,
    );
    // from the definition of the resolver, since the schema has a bound copy of the function
    const fastReadOf = resolvers[type]?.[field.name]?.fastReadOf;
    // it would bypass the check of the selection
    if (!fastReadOf || operation?.isFigure) continue;
    const guardedReadOf: FastReadOf = (selected) => {
      const read = fastReadOf(selected);
      return read && guardRead(field.name, read, check);
    };
    field.extensions = { ...field.extensions, fastReadOf: guardedReadOf };
  }
}

type Check = (args: Readonly<Record<string, unknown>>, context: Pick<CallContext, 'authorise'>) => void;

/** Checks access before arguments and lookup, so that callers without access learn nothing. */
function checkOf(access: Access | undefined, checkArguments: (args: unknown) => void): Check {
  return (args, context) => {
    if (access) context.authorise(access);
    // lengths are those of normalised keys; the resolver gets them as sent, and normalises what it stores or compares
    checkArguments(normaliseKeys(args));
  };
}

/** What a guard knows of a resolver: no more of its context than all callers have. */
type Guarded = Resolver<CallContext>;

function guard(resolve: Guarded, check: Check | undefined): Guarded {
  return (source, args, context, info) => {
    check?.(args as Readonly<Record<string, unknown>>, context);
    return traced(info.fieldName, context, () => resolve(source, args, context, info));
  };
}

/**
 * A field in GraphQL whose caller may read only a part of its answer, and so must not select more: of a change (toldMembers.ts), which REST
 * and MCP leave out, or of a figure (figures.ts).
 */
function withSelectionCheck(operation: Operation | undefined, resolve: Guarded): Guarded {
  if (operation?.readScope === undefined && !operation?.isFigure) return resolve;
  return (source, args, context, info) => {
    if (operation.isFigure) requireNamesOnly(context, info);
    else requireTold(operation, args as Readonly<Record<string, unknown>>, context, info);
    return resolve(source, args, context, info);
  };
}

/** The same guard for a fast read. */
function guardRead(name: string, read: FastRead, check: Check | undefined): FastRead {
  const guarded: FastRead = async (args, context) => {
    check?.(args, context);
    return (await traced(name, context, () => read(args, context))) as ReadOutcome;
  };
  return Object.assign(guarded, { isOneCommand: read.isOneCommand });
}

function traced(name: string, { trace }: Pick<CallContext, 'trace'>, work: () => unknown): unknown {
  return trace ? trace(name, work) : work();
}

/** Errors of a field that apply to it in every row. */
const ofEveryRow = new WeakSet<object>();

/** Whether an error applies to a field in every row, so that its path need not name one. */
export function isOfEveryRow(error: object): boolean {
  return ofEveryRow.has(error);
}

/**
 * The same guard for a field of rows. It checks once, since neither caller nor arguments differ between rows; a refusal gives one error, and
 * null in all other rows.
 */
function guardRows(resolve: Guarded, check: Check): Guarded {
  // all rows share one array of nodes per place in the document
  const allowed = new WeakMap<CallContext, WeakMap<readonly FieldNode[], boolean>>();
  return (source, args, context, info) => {
    let places = allowed.get(context);
    if (!places) allowed.set(context, (places = new WeakMap()));
    const isAllowed = places.get(info.fieldNodes);
    if (isAllowed === undefined) {
      places.set(info.fieldNodes, false);
      try {
        check(args as Readonly<Record<string, unknown>>, context);
      } catch (error) {
        ofEveryRow.add(error as object);
        throw error;
      }
      places.set(info.fieldNodes, true);
    } else if (!isAllowed) return null;
    return traced(info.fieldName, context, () => resolve(source, args, context, info));
  };
}

/** Runs a write with an Idempotency-Key once (CallContext.once). It runs inside the guard, since a replay must still be authorised. */
function once(resolve: Guarded): Guarded {
  return (source, args, context, info) => {
    if (!context.once) return resolve(source, args, context, info);
    return context.once(info.fieldName, args, (write) => {
      // the write stores its changes and its answer together
      const callContext = write ? (Object.create(context, { write: { value: write } }) as CallContext) : context;
      return resolve(source, args, callContext, info);
    });
  };
}

/** A bulk call, which answers with a result for each element: its failed elements are noted for the log, also those of an answer that `once` replays. */
function withElementsNoted(resolve: Guarded): Guarded {
  return async (source, args, context, info) => {
    const report = await resolve(source, args, context, info);
    const { failed, results } = report as { readonly failed: number; readonly results: readonly unknown[] };
    context.noteElements?.(failed, results.length);
    return report;
  };
}

/** Contexts of requests that have begun a write. */
const writing = new WeakSet<CallContext>();

/** Refuses further writes of a request whose caller has disconnected, and so would not learn what became of them; the first follows the request at once. */
function whileAwaited(resolve: Guarded): Guarded {
  return (source, args, context, info) => {
    if (writing.has(context) && context.isGone?.())
      throw new AppError('unavailable', 'The caller disconnected; this write stored nothing.', { reason: 'unread' });
    writing.add(context);
    return resolve(source, args, context, info);
  };
}

/** Called for each answer that a fast read could give, with the reason if it fell back to the resolver. */
export type OnFastRead = ((reason?: FallbackReason) => void) | undefined;

/** A fast read of a root field. Resolves with undefined if the resolver has to answer, as it has for undefined (invalid) arguments. */
export type Read = (
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallContext,
) => Promise<Written | undefined>;

/** The fast read of a selection of a root field, which its resolver has from stored/derived.ts; undefined if only the resolver can answer it. */
export function readOf(field: Field, selected: readonly Selected[], onFastRead: OnFastRead): Read | undefined {
  const read = (field.extensions.fastReadOf as FastReadOf | undefined)?.(selected);
  if (!read) return undefined;
  return async (args, caller) => {
    // only the public schema has fast reads
    const context = caller as DataContext;
    if (context.accepted && !(args && read.isOneCommand?.(context.data, args))) await context.accepted;
    const { written, reason }: ReadOutcome = args ? await read(args, context) : { reason: 'arguments' };
    if (context.accepted) await context.accepted;
    onFastRead?.(written ? undefined : reason);
    return written;
  };
}
