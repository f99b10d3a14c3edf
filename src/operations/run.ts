import {
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import type { ScopeName } from '../auth/scopes';
import { normaliseKeys } from '../schema/callerKeys';
import { type Access, accessOf } from '../schema/declaredOperations';
import { objectFields } from '../schema/jsonSchema';
import type { Merge } from '../schema/upserts';
import { directiveOf } from '../schema/sdl';
import { argumentChecks } from './argumentChecks';
import type { Begun, FallbackReason, ReadContext, Written } from './ahead';
import type { RequestContext } from './context';
import type { FastRead, FastReadOf, Field, Selected } from './selection';

/*
 * How every API runs an operation: access, arguments, its Idempotency-Key, then from the database's bytes if that works, otherwise by
 * its resolver. GraphQL has access and arguments checked around each guarded field; REST and MCP call operations one at a time, and
 * check both before they read a page or a body.
 */

export type Resolver = GraphQLFieldResolver<unknown, RequestContext> & {
  /** What reads its answer from the database's bytes, if anything can. */
  readonly fastReadOf?: FastReadOf;
  /** What a bulk upsert makes of an element. */
  readonly merge?: Merge;
};
export type Resolvers = Record<string, Record<string, Resolver>>;

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
  /** A key needs one of these scopes to receive any events. */
  readonly eventScopes: readonly ScopeName[];
  /** Whether access and arguments of root fields are checked before: by REST and MCP. */
  readonly rootsAreChecked: boolean;
}

/** Guards every field with @access. */
export function guardFields(schema: GraphQLSchema, { resolvers, eventScopes, rootsAreChecked }: GuardOptions): void {
  const guarded = objectFields(schema).filter(({ field }) => directiveOf(field.astNode, 'access'));
  const checksOf = argumentChecks(schema, guarded);
  const roots = Object.values(OperationTypeNode).map((kind) => schema.getRootType(kind)?.name);
  for (const { type, field } of guarded) {
    const isRoot = roots.includes(type);
    const check =
      isRoot && rootsAreChecked
        ? undefined
        : checkOf(accessOf(field.astNode, eventScopes), checksOf({ type, field }).all);
    // once for all events of the stream
    if (field.subscribe) {
      field.subscribe = guard(field.subscribe as Resolver, check);
      continue;
    }
    const resolve = field.resolve as Resolver;
    if (check && !isRoot) {
      field.resolve = guardRows(resolve, field.type, check);
      continue;
    }
    field.resolve = guard(type === 'Mutation' ? once(resolve) : resolve, check);
    // from where it was defined, since the schema has a bound copy of the function
    const fastReadOf = resolvers[type]?.[field.name]?.fastReadOf;
    if (!fastReadOf) continue;
    const guardedReadOf: FastReadOf = (selected) => {
      const read = fastReadOf(selected);
      return read && guardRead(field.name, read, check);
    };
    field.extensions = { ...field.extensions, fastReadOf: guardedReadOf };
  }
}

type Check = (args: Readonly<Record<string, unknown>>, context: Pick<RequestContext, 'authorise'>) => void;

/** Checks access before arguments and lookup, so that callers without access learn nothing. */
function checkOf(access: Access, checkArguments: (args: unknown) => void): Check {
  return (args, context) => {
    context.authorise(access);
    checkArguments(normaliseKeys(args));
  };
}

function guard(resolve: Resolver, check: Check | undefined): Resolver {
  return (source, args, context, info) => {
    check?.(args as Readonly<Record<string, unknown>>, context);
    return traced(info.fieldName, context, () => resolve(source, args, context, info));
  };
}

/** The same guard for a fast read. */
function guardRead(name: string, read: FastRead, check: Check | undefined): FastRead {
  const guarded: FastRead = async (args, context, onFallback) => {
    check?.(args, context);
    return (await traced(name, context, () => read(args, context, onFallback))) as Written | undefined;
  };
  return Object.assign(guarded, { mayBegin: read.mayBegin });
}

function traced(name: string, { trace }: Pick<RequestContext, 'trace'>, work: () => unknown): unknown {
  return trace ? trace(name, work) : work();
}

/** Errors that concern a field in every row. */
const ofEveryRow = new WeakSet<object>();

export function isOfEveryRow(error: object): boolean {
  return ofEveryRow.has(error);
}

/**
 * The same guard for a field of rows: it is checked once, since neither the caller nor its arguments differ between rows, and if it is
 * refused, that is one error, and null in the other rows.
 */
function guardRows(resolve: Resolver, type: GraphQLOutputType, check: Check): Resolver {
  if (isNonNullType(type))
    throw new Error('invalid schema: a guarded field of rows can be refused, so it must be nullable');
  // one array for all rows, for each place in the document: graphql-js and graphql-jit collect the nodes of a place once
  const allowed = new WeakMap<RequestContext, WeakMap<readonly FieldNode[], boolean>>();
  return (source, args, context, info) => {
    let places = allowed.get(context);
    if (!places) allowed.set(context, (places = new WeakMap()));
    const known = places.get(info.fieldNodes);
    if (known === undefined) {
      places.set(info.fieldNodes, false);
      try {
        check(args as Readonly<Record<string, unknown>>, context);
      } catch (error) {
        ofEveryRow.add(error as object);
        throw error;
      }
      places.set(info.fieldNodes, true);
    } else if (!known) return null;
    return traced(info.fieldName, context, () => resolve(source, args, context, info));
  };
}

/** Runs a write with an Idempotency-Key once. Inside the guard, since a replay must still be authorised. */
function once(resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    context.once(info.fieldName, args, (write) => {
      // what it stores, it stores with its answer
      const own = write ? (Object.create(context, { write: { value: write } }) as RequestContext) : context;
      return resolve(source, args, own, info);
    });
}

/** Called for each answer that can be read fast, with the reason if this one was not. */
export type OnFastRead = ((reason?: FallbackReason) => void) | undefined;

/** Reads the answer of a root field from the database's bytes; undefined if the usual way has to. */
export interface Read {
  (
    /** As resolvers get them; undefined if they cannot be converted. */
    args: Readonly<Record<string, unknown>> | undefined,
    context: ReadContext,
    /** Of this read, if it has begun. */
    begun?: Begun,
  ): Promise<Written | undefined>;
  /** Begins it before its caller is known for certain, if that is possible: it counts when it is used. */
  begin(args: Readonly<Record<string, unknown>> | undefined, context: ReadContext): Begun | undefined;
}

/** How a selection of a root field is read; undefined if there is the usual way only. */
export function readOf(field: Field, selected: readonly Selected[], onFastRead: OnFastRead): Read | undefined {
  const read = (field.extensions.fastReadOf as FastReadOf | undefined)?.(selected);
  if (!read) return undefined;
  const attempt = async (args: Readonly<Record<string, unknown>>, context: ReadContext): Begun => {
    let reason: FallbackReason | undefined;
    const written = await read(args, context, (found) => {
      reason = found;
    });
    return { written, reason };
  };
  const use = async (...[args, context, begun]: Parameters<Read>): Promise<Written | undefined> => {
    const { written, reason } = args ? await (begun ?? attempt(args, context)) : { reason: 'arguments' as const };
    onFastRead?.(written ? undefined : reason);
    return written;
  };
  return Object.assign(use, {
    begin(args: Parameters<Read>[0], context: ReadContext): Begun | undefined {
      if (!args || !read.mayBegin?.(context.data)) return undefined;
      const begun = attempt(args, context);
      // what it throws is for whoever uses it
      begun.catch(() => undefined);
      return begun;
    },
  });
}
