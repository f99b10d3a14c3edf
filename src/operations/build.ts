import { makeExecutableSchema } from '@graphql-tools/schema';
import { type DocumentNode, type GraphQLSchema, getNamedType, isScalarType } from 'graphql';
import { countListedObjects, givesMember } from './answers';
import { refuseErrors } from '../schema/checks';
import { guardFields, type Resolvers } from './run';
import { objectFields } from '../schema/jsonSchema';
import type { Operation } from '../schema/declaredOperations';
import type { SchemaModel } from '../schema/model';
import { scalars } from '../schema/scalars';
import { describeRequirements } from '../schema/requirements';
import { deriveRestDocument } from '../schema/restDocument';
import type { CheckedResource } from '../schema/checks/errors';
import { PAGE } from '../schema/sdl';

export interface Schemas {
  /** The whole schema, for the GraphQL API. */
  readonly graphql: GraphQLSchema;
  /** The schema of the REST API; a separate object, since Sofa and Apollo must not share one. Its root fields are run with checked access and arguments. */
  readonly rest: GraphQLSchema;
  readonly operations: readonly Operation[];
}

/**
 * SDL and resolvers → the schemas of both APIs, with every @access guarded.
 * @throws Error with a line per fault, e.g. root fields without @access or resolver, unknown scopes, list arguments without effect. The
 * server must not start.
 */
export function buildSchemas(
  model: SchemaModel,
  resolvers: Resolvers,
  resources: readonly CheckedResource[] = [],
): Schemas {
  refuseErrors(model, resolvers, resources);
  return {
    graphql: describeRequirements(executable(model, model.document, resolvers, false), model),
    rest: executable(model, deriveRestDocument(model), resolvers, true),
    operations: model.operations,
  };
}

function executable(
  { stored, eventScopes }: SchemaModel,
  document: DocumentNode,
  resolvers: Resolvers,
  rootsAreChecked: boolean,
): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: document,
    // refuseErrors has checked what it is, or is derived from
    assumeValidSDL: true,
    resolvers: { ...resolvers, ...scalars },
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  describeScalars(schema);
  deriveIds(schema, stored);
  countListedObjects(schema);
  guardFields(schema, { resolvers, eventScopes, rootsAreChecked });
  return schema;
}

/** Resolves the `id` of rows, which the database calls `_id`: of stored types, and of a page's rows. */
function deriveIds(schema: GraphQLSchema, stored: ReadonlyMap<string, unknown>): void {
  const fields = objectFields(schema);
  const ofPages = fields.filter(({ type, field }) => field.name === 'data' && type.endsWith(PAGE));
  const rows = new Set([...stored.keys(), ...ofPages.map(({ field }) => getNamedType(field.type).name)]);
  for (const { type, field } of fields) {
    if (field.name === 'id' && rows.has(type)) field.resolve ??= idOfRow;
  }
}

function idOfRow(row: unknown): unknown {
  return (row as Row)._id ?? (row as Row).id;
}

/** The member of a stored object that is the value of a field; undefined if a resolver makes it. */
export function memberOf({ name, resolve }: { readonly name: string; readonly resolve?: unknown }): string | undefined {
  if (resolve === idOfRow) return '_id';
  return givesMember(resolve) ? name : undefined;
}

interface Row {
  readonly _id?: unknown;
  readonly id?: unknown;
}

/** Restores the descriptions of scalars, since the scalar objects replace those of the SDL. */
function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isScalarType)) {
    type.description ??= type.astNode?.description?.value;
  }
}
