import {
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import type { RequestContext } from './context';
import { argumentChecks } from './argumentChecks';
import { normaliseKeys } from '../schema/callerKeys';
import { objectFields } from '../schema/jsonSchema';
import { type Access, accessOf } from '../schema/declaredOperations';
import type { Merge } from '../schema/resolvers';
import { directiveOf } from '../schema/sdl';
import type { Writer, WriterOf } from './fastRead';

/* Wraps the resolvers of guarded fields: checks access and arguments, and runs writes with an Idempotency-Key once. */

export type Resolver = GraphQLFieldResolver<unknown, RequestContext> & {
  /** What writes its answer as text, if anything can. */
  readonly writerOf?: WriterOf;
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

/** Guards every field with @access. Arguments are checked for GraphQL only, since REST checks them earlier. */
export function guardFields(
  schema: GraphQLSchema,
  options: { readonly checkArguments: boolean; readonly resolvers?: Resolvers },
): void {
  const guarded = objectFields(schema).filter(({ field }) => directiveOf(field.astNode, 'access'));
  const checks = options.checkArguments ? argumentChecks(schema, guarded) : undefined;
  const roots = Object.values(OperationTypeNode).map((kind) => schema.getRootType(kind)?.name);
  for (const { type, field } of guarded) {
    const access = accessOf(field.astNode);
    const checkArguments = checks?.({ type, field });
    // once for all events of the stream
    if (field.subscribe) {
      field.subscribe = guard(field.subscribe as Resolver, access, checkArguments);
      continue;
    }
    const resolve = field.resolve as Resolver;
    if (!roots.includes(type)) {
      field.resolve = guardRows(resolve, field.type, checkOf(access, checkArguments));
      continue;
    }
    field.resolve = guard(type === 'Mutation' ? once(resolve) : resolve, access, checkArguments);
    // from where it was defined, since the schema has a bound copy of the function
    const writerOf = options.resolvers?.[type]?.[field.name]?.writerOf;
    if (writerOf) {
      const guarded: WriterOf = (selected) => {
        const write = writerOf(selected);
        return write && guardWriter(field.name, write, access, checkArguments);
      };
      field.extensions = { ...field.extensions, writerOf: guarded };
    }
  }
}

type Check = (args: Readonly<Record<string, unknown>>, context: RequestContext) => void;

/** Checks access before arguments and lookup, so that callers without access learn nothing. */
function checkOf(access: Access, checkArguments: ((args: unknown) => void) | undefined): Check {
  return (args, context) => {
    context.authorise(access);
    checkArguments?.(normaliseKeys(args));
  };
}

function guard(resolve: Resolver, access: Access, checkArguments: ((args: unknown) => void) | undefined): Resolver {
  const check = checkOf(access, checkArguments);
  return (source, args, context, info) => {
    check(args as Readonly<Record<string, unknown>>, context);
    return run(resolve, source, args, context, info);
  };
}

function run(resolve: Resolver, ...[source, args, context, info]: Parameters<Resolver>): unknown {
  const { trace } = context;
  return trace
    ? trace(info.fieldName, () => resolve(source, args, context, info))
    : resolve(source, args, context, info);
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
    return run(resolve, source, args, context, info);
  };
}

/** The same guard for a writer. */
function guardWriter(
  name: string,
  write: Writer,
  access: Access,
  checkArguments: ((args: unknown) => void) | undefined,
): Writer {
  const guarded = guard(
    (_, args: Readonly<Record<string, unknown>>, context) => write(args, context),
    access,
    checkArguments,
  );
  const info = { fieldName: name } as GraphQLResolveInfo;
  // a guard throws where a resolver may, before there is a promise
  return async (args, context) => guarded(undefined, args, context, info) as ReturnType<Writer>;
}

/** Runs a write with an Idempotency-Key once. Inside the guard, since a replay must still be authorised. */
function once(resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    context.once(info.fieldName, args, () => resolve(source, args, context, info));
}
