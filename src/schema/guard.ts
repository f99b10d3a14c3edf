import { type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import type { Access, RequestContext } from '../context';
import { type Findings, invalidRequest, validationFailed } from '../errors';
import { inKeptSpelling } from './compared';
import { IF_MATCH, IF_MATCH_HEADER } from './entityTags';
import { argumentsSchema, componentSchemas } from './jsonSchema';
import { accessOf } from './operations';
import { directiveOf, stringArgument } from './sdl';
import { type Check, checkWith, compiledAtFirstUse, createAjv, requireSchema } from './validation';

/* Wraps the resolvers of guarded fields: checks access and arguments, and runs writes with an Idempotency-Key once. */

export type Resolver = GraphQLFieldResolver<unknown, RequestContext>;
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
export function guardFields(schema: GraphQLSchema, options: { readonly checkArguments: boolean }): void {
  const guarded = guardedFields(schema);
  const checks = options.checkArguments ? argumentChecks(schema, guarded) : undefined;
  for (const { type, field, access } of guarded) {
    const check = checks?.(`${type}.${field.name}`);
    field.resolve = guard(
      type === 'Mutation' ? once(field.resolve as Resolver) : (field.resolve as Resolver),
      access,
      check &&
        ((args) => {
          refuseFaults(check(args), type === 'Mutation' ? parametersOf(field) : undefined);
        }),
    );
  }
}

interface GuardedField {
  readonly type: string;
  readonly field: GraphQLField<unknown, RequestContext>;
  readonly access: Access;
}

function guardedFields(schema: GraphQLSchema): GuardedField[] {
  const guarded: GuardedField[] = [];
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const access = directiveOf(field.astNode, 'access');
      if (access) guarded.push({ type: type.name, field: field as GuardedField['field'], access: accessOf(access) });
    }
  }
  return guarded;
}

/** Checks access before arguments and lookup, so that callers without access learn nothing. */
function guard(resolve: Resolver, access: Access, checkArguments: ((args: unknown) => void) | undefined): Resolver {
  return (source, args, context, info) => {
    context.authorise(access);
    checkArguments?.(inKeptSpelling(args as Readonly<Record<string, unknown>>));
    return resolve(source, args, context, info);
  };
}

/** Runs a write with an Idempotency-Key once. Inside the guard, since a replay must still be authorised. */
function once(resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    context.once(info.fieldName, args, () => resolve(source, args, context, info));
}

function argumentChecks(schema: GraphQLSchema, guarded: readonly GuardedField[]): (field: string) => Check {
  const components = { schemas: componentSchemas(schema, { elementBounds: false, closed: false }) };
  const fields = Object.fromEntries(
    guarded.map(({ type, field }) => [
      `${type}.${field.name}`,
      argumentsSchema(schema, field.args, { queries: type !== 'Mutation' }),
    ]),
  );
  const ajv = createAjv().addSchema({ components, fields }, 'arguments');
  return (field) => compiledAtFirstUse(() => checkWith(requireSchema(ajv, `arguments#/fields/${field}`)));
}

/** The arguments of a write that REST takes from the path or a header, with their names there. */
function parametersOf({ astNode }: Pick<GuardedField['field'], 'astNode'>): ReadonlyMap<string, string> {
  const rest = directiveOf(astNode, 'rest');
  const inPath = rest ? [...stringArgument(rest, 'path').matchAll(/:(\w+)/g)] : [];
  return new Map([[IF_MATCH, IF_MATCH_HEADER], ...inPath.map(([, name = '']) => [name, name] as const)]);
}

/** Reports faults as REST does: 400 for parameters, of which a read has nothing else; 422, as in a body, for the rest of a write. */
function refuseFaults({ faults, more }: Findings, parameters: ReadonlyMap<string, string> | undefined): void {
  if (faults.length === 0) return;
  const named = faults.flatMap(({ pointer, ...fault }) => {
    const name = pointer?.split('/')[1] ?? '';
    const parameter = parameters ? parameters.get(name) : name;
    return parameter === undefined ? [] : [{ ...fault, parameter }];
  });
  if (named.length === 0) throw validationFailed(faults, more);
  throw invalidRequest(named, parameters ? 0 : more);
}
