import { makeExecutableSchema } from '@graphql-tools/schema';
import { type DocumentNode, type GraphQLSchema, getNamedType, isObjectType, isScalarType } from 'graphql';
import { countListedObjects } from './answerSize';
import { refuseGaps } from './gaps';
import { guardFields, type Resolvers } from './guard';
import { findOperations, type Operation } from './operations';
import { scalars } from './scalars';
import { deriveRestDocument, findIncludes, isPageWithAll, listWith } from './restDocument';
import { PAGE } from './sdl';
import type { CheckedResource } from './sentences';

export interface Schemas {
  /** The whole schema, for the GraphQL API. */
  readonly graphql: GraphQLSchema;
  /** The schema of the REST API; a separate object, since Sofa and Apollo must not share one. */
  readonly rest: GraphQLSchema;
  readonly operations: readonly Operation[];
}

/**
 * SDL and resolvers → the schemas of both APIs, with every @access guarded.
 * @throws Error listing every gap, e.g. root fields without @access or resolver, unknown scopes, list arguments without effect. The
 * server must not start.
 */
export function buildSchemas(
  document: DocumentNode,
  resolvers: Resolvers,
  resources: readonly CheckedResource[] = [],
): Schemas {
  refuseGaps(document, resolvers, resources);
  return {
    graphql: executable(document, resolvers, { checkArguments: true }),
    // REST requests are already checked against the OpenAPI document
    rest: executable(deriveRestDocument(document), withTwins(document, resolvers), { checkArguments: false }),
    operations: findOperations(document),
  };
}

/** Adds the resolvers of list twins, which are those of their lists. */
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
  guardFields(schema, options);
  return schema;
}

/** Resolves the `id` of rows, which the database calls `_id`. The rows of a page may be a type or its item twin. */
function deriveIds(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const pages = types.filter(({ name }) => name.endsWith(PAGE) || isPageWithAll(name));
  for (const page of pages) {
    const row = getNamedType(page.getFields().data?.type);
    const id = isObjectType(row) ? row.getFields().id : undefined;
    if (id) id.resolve ??= ({ _id, id: own }: { readonly _id?: unknown; readonly id?: unknown }) => _id ?? own;
  }
}

/** Restores the descriptions of scalars, since the scalar objects replace those of the SDL. */
function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isScalarType)) {
    type.description ??= type.astNode?.description?.value;
  }
}
