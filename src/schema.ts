import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isObjectType,
  isScalarType,
  parse,
} from 'graphql';
import { ROLES, type RoleName } from './access/roles';
import { SCOPES, type ScopeName } from './access/scopes';
import type { Access, RequestContext } from './context';
import { invalidRequest, validationFailed } from './errors';
import { countListedObjects } from './graphql/answerSize';
import { argumentsSchema, componentSchemas } from './jsonSchema';
import { resolvers as resourceResolvers } from './resources';
import { settingsResolvers } from './settings/resolvers';
import { scalars } from './scalars';
import {
  allFieldNodes,
  deriveRestDocument,
  directiveOf,
  enumArgument,
  intArgument,
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
  readonly rest: { readonly method: 'GET' | 'POST'; readonly path: string; readonly status: number } | undefined;
}

export interface Schemas {
  /** The whole schema, for the GraphQL face. */
  readonly graphql: GraphQLSchema;
  /** What the REST face may show: a schema object of its own, since Sofa and Apollo must not share one. */
  readonly rest: GraphQLSchema;
  readonly operations: readonly Operation[];
}

const SCHEMA_FOLDER = join(__dirname, '..', 'schema');

/** Reads schema/*.graphql. */
export function loadDocument(folder = SCHEMA_FOLDER): DocumentNode {
  const files = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
  return parse(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'), { noLocation: true });
}

/**
 * SDL and resolvers → both faces' schemas, with every @access guarded.
 * @throws Error listing each root field without @access or resolver and each unknown scope: the server must not boot.
 */
export function buildSchemas(resolvers: Resolvers = allResolvers(), document: DocumentNode = loadDocument()): Schemas {
  refuseGaps(document, resolvers);
  return {
    graphql: executable(document, resolvers, { checkArguments: true, countObjects: true }),
    // REST requests were checked against the published document before they get here
    rest: executable(deriveRestDocument(document), resolvers, { checkArguments: false, countObjects: false }),
    operations: findOperations(document),
  };
}

interface ExecutableOptions {
  readonly checkArguments: boolean;
  /** Whether what an answer's lists hold is bounded; a REST operation has one list. */
  readonly countObjects: boolean;
}

function executable(document: DocumentNode, resolvers: Resolvers, options: ExecutableOptions): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: document,
    resolvers: { ...resolvers, ...scalars },
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  describeScalars(schema);
  if (options.countObjects) countListedObjects(schema);
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
    checkArguments?.(args);
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
      },
    };
  });
}

function refuseGaps(document: DocumentNode, resolvers: Resolvers): void {
  const gaps: string[] = [];
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
    if (role !== undefined && directiveOf(field, 'rest')) gaps.push(`${name} is for users and has @rest`);
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
