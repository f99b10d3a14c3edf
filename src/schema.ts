import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { ROLES, type RoleName } from './access/roles';
import { SCOPES, type ScopeName } from './access/scopes';
import type { Access, RequestContext } from './context';
import { invalidRequest, validationFailed } from './errors';
import { countListedObjects } from './graphql/answerSize';
import { argumentsSchema, componentSchemas } from './jsonSchema';
import { lists as resourceLists, resolvers as resourceResolvers } from './resources';
import { inKeptSpelling } from './resources/compared';
import { type CheckedList, filterGaps } from './resources/filterGaps';
import { settingsResolvers } from './settings/resolvers';
import { scalars } from './scalars';
import {
  allFieldNodes,
  deriveRestDocument,
  directiveOf,
  enumArgument,
  findIncludes,
  intArgument,
  isPageWithAll,
  listWith,
  loadDocument,
  rootFieldNodes,
  stringArgument,
} from './sdl';
import { type Check, checkWith, createAjv, type Findings, requireSchema } from './validation';

export type Resolver = GraphQLFieldResolver<unknown, RequestContext>;
export type Resolvers = Record<string, Record<string, Resolver>>;

/** One root field: how it is called on REST, if at all, and who may call it. */
export interface Operation extends Access {
  readonly name: string;
  readonly kind: 'Query' | 'Mutation';
  readonly rest: RestRoute | undefined;
}

export interface RestRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
  /** The field that the items of this list have with `include` alone. */
  readonly includes?: string | undefined;
}

export interface Schemas {
  /** The whole schema, for the GraphQL face. */
  readonly graphql: GraphQLSchema;
  /** What the REST face may show: a schema object of its own, since Sofa and Apollo must not share one. */
  readonly rest: GraphQLSchema;
  readonly operations: readonly Operation[];
}

/**
 * SDL and resolvers → both faces' schemas, with every @access guarded.
 * @throws Error listing each gap: root fields without @access or resolver, unknown scopes, arguments of lists that do nothing. The
 * server must not boot.
 */
export function buildSchemas(
  resolvers: Resolvers = allResolvers(),
  document: DocumentNode = loadDocument(),
  lists: readonly CheckedList[] = resourceLists,
): Schemas {
  refuseGaps(document, resolvers, lists);
  return {
    graphql: executable(document, resolvers, { checkArguments: true }),
    // REST requests were checked against the published document before they get here
    rest: executable(deriveRestDocument(document), withTwins(document, resolvers), { checkArguments: false }),
    operations: findOperations(document),
  };
}

/** The resolvers, those of lists for their twins as well. */
function withTwins(document: DocumentNode, resolvers: Resolvers): Resolvers {
  const lists = resolvers.Query ?? {};
  const twins = [...findIncludes(document)].map(([list, included]) => [listWith(list, included), lists[list]]);
  return { ...resolvers, Query: { ...lists, ...(Object.fromEntries(twins) as typeof lists) } };
}

function executable(document: DocumentNode, resolvers: Resolvers, options: { checkArguments: boolean }): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: document,
    resolvers: { ...resolvers, ...scalars },
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  describeScalars(schema);
  deriveIds(schema);
  countListedObjects(schema);
  const guarded = guardedFields(schema);
  const checks = options.checkArguments ? argumentChecks(schema, guarded) : undefined;
  for (const { type, field, access } of guarded) {
    const check = checks?.(`${type}.${field.name}`);
    field.resolve = guard(
      type === 'Mutation' ? once(field.resolve as Resolver) : (field.resolve as Resolver),
      access,
      check &&
        ((args) => {
          refuseFaults(type, check(args));
        }),
    );
  }
  return schema;
}

/** A row's `id` is what the database calls `_id`; rows are what pages hold, and what REST's items stand for. */
function deriveIds(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const pages = types.filter(({ name }) => name.endsWith('Page') || isPageWithAll(name));
  for (const page of pages) {
    const row = getNamedType(page.getFields().data?.type);
    const id = isObjectType(row) ? row.getFields().id : undefined;
    if (id) id.resolve ??= ({ _id, id: own }: { readonly _id?: unknown; readonly id?: unknown }) => _id ?? own;
  }
}

/** The scalars' own objects replace those of the SDL, and its words with them. */
function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isScalarType)) {
    type.description ??= type.astNode?.description?.value;
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

/** Access first, then arguments, then the look-up: a caller who may not learns nothing. */
function guard(resolve: Resolver, access: Access, checkArguments: ((args: unknown) => void) | undefined): Resolver {
  return (source, args, context, info) => {
    context.authorise(access);
    checkArguments?.(inKeptSpelling(args));
    return resolve(source, args, context, info);
  };
}

/** A write with an Idempotency-Key runs once; only the guarded part of it may be left out when it is sent again. */
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
  return (field) => checkWith(requireSchema(ajv, `arguments#/fields/${field}`));
}

/** Faults in the arguments of a mutation are those of a REST body (422); of anything else those of parameters (400). */
function refuseFaults(type: string, { faults, more }: Findings): void {
  if (faults.length === 0) return;
  if (type === 'Mutation') throw validationFailed(faults, more);
  const named = faults.map(({ pointer, ...fault }) => ({ ...fault, parameter: pointer?.split('/')[1] ?? '' }));
  throw invalidRequest(named, more);
}

function findOperations(document: DocumentNode): Operation[] {
  const includes = findIncludes(document);
  return rootFieldNodes(document).map(({ kind, field }) => {
    const access = directiveOf(field, 'access');
    const rest = directiveOf(field, 'rest');
    return {
      name: field.name.value,
      kind,
      ...(access ? accessOf(access) : { scope: undefined, role: undefined }),
      rest: rest && {
        method: (enumArgument(rest, 'method') ?? 'GET') as 'GET' | 'POST',
        path: stringArgument(rest, 'path'),
        status: intArgument(rest, 'status') ?? 200,
        includes: includes.get(field.name.value),
      },
    };
  });
}

/** Methods whose checks, document and routes there are. */
const METHODS: readonly string[] = ['GET', 'POST'];

function refuseGaps(document: DocumentNode, resolvers: Resolvers, lists: readonly CheckedList[]): void {
  const gaps = filterGaps(document, lists);
  for (const { type, field } of allFieldNodes(document)) {
    const name = `${type}.${field.name.value}`;
    const isRoot = type === 'Query' || type === 'Mutation';
    const access = directiveOf(field, 'access');
    const scope = access && enumArgument(access, 'scope');
    const role = access && enumArgument(access, 'role');
    if (isRoot && !access) gaps.push(`${name} has no @access`);
    if (scope !== undefined && !Object.hasOwn(SCOPES, scope)) gaps.push(`${name} names the unknown scope ${scope}`);
    if (role !== undefined && !Object.hasOwn(ROLES, role)) gaps.push(`${name} names the unknown role ${role}`);
    if (role !== undefined && scope !== undefined)
      gaps.push(`${name} names a scope and a role; keys and users never share a field`);
    const rest = directiveOf(field, 'rest');
    if (role !== undefined && rest) gaps.push(`${name} is for users and has @rest`);
    const method = rest && enumArgument(rest, 'method');
    if (method !== undefined && !METHODS.includes(method))
      gaps.push(`${name} has @rest(method: ${method}); REST operations are ${METHODS.join(' or ')}`);
    if ((isRoot || access) && !resolvers[type]?.[field.name.value]) gaps.push(`${name} has no resolver`);
  }
  if (gaps.length > 0) throw new Error(`the schema is not fit to serve: ${gaps.join('; ')}`);
}

function accessOf(access: ConstDirectiveNode): Access {
  const scope = enumArgument(access, 'scope');
  const role = enumArgument(access, 'role');
  return {
    scope: scope === undefined ? undefined : SCOPES[scope as ScopeName],
    role: role === undefined ? undefined : ROLES[role as RoleName],
  };
}

function allResolvers(): Resolvers {
  const all: Resolvers = { ...resourceResolvers };
  for (const [type, fields] of Object.entries(settingsResolvers)) all[type] = { ...all[type], ...fields };
  return all;
}
