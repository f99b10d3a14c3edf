import { makeExecutableSchema } from '@graphql-tools/schema';
import { type DocumentNode, type GraphQLOutputType, type GraphQLSchema, getNamedType, isScalarType } from 'graphql';
import { countListedObjects, resolvesToMember } from './answers';
import { refuseErrors } from '../schema/checks';
import { guardFields, type Resolvers } from './run';
import { objectFields } from '../schema/jsonSchema';
import type { Operation } from '../schema/declaredOperations';
import { isAttachmentsType } from '../schema/attachmentNames';
import { isMetadataType, METADATA_KEY } from '../schema/metadata';
import type { SchemaModel } from '../schema/model';
import { scalars } from '../schema/scalars';
import { describeRequirements } from '../schema/requirements';
import { deriveRestDocument } from '../schema/restDocument';
import { PAGE } from '../schema/sdl';
import { patternOf } from '../schema/storedTypes';
import type { Field } from './selection';

export interface Schemas {
  /** The whole schema, for the GraphQL API. */
  readonly graphql: GraphQLSchema;
  /** The schema of the REST API, without fields that only GraphQL has. Callers check access and arguments of its root fields, as GraphQL's schema does by itself. */
  readonly rest: GraphQLSchema;
  readonly operations: readonly Operation[];
}

/**
 * Builds the schemas of both APIs from SDL and resolvers, with every @access guarded.
 * @throws Error with a line per fault, such as a root field without @access or resolver: the server must not start
 */
export function buildSchemas(model: SchemaModel, resolvers: Resolvers): Schemas {
  refuseErrors(model, (type, field) => resolvers[type]?.[field] !== undefined);
  return {
    graphql: describeRequirements(executable(model, model.document, resolvers, false), model),
    rest: executable(model, deriveRestDocument(model), resolvers, true),
    operations: model.operations,
  };
}

function executable(
  { stored, operations, eventScopes }: SchemaModel,
  document: DocumentNode,
  resolvers: Resolvers,
  rootsAreChecked: boolean,
): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: document,
    // refuseErrors has checked this document, or the one that it is derived from
    assumeValidSDL: true,
    resolvers: { ...resolvers, ...scalars },
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  describeScalars(schema);
  deriveIds(schema, stored);
  countListedObjects(schema);
  guardFields(schema, { resolvers, operations, eventScopes, rootsAreChecked });
  return schema;
}

/** Resolves `id` from `_id` in stored types and in the rows of pages. */
function deriveIds(schema: GraphQLSchema, stored: ReadonlyMap<string, unknown>): void {
  const fields = objectFields(schema);
  const ofPages = fields.filter(({ type, field }) => field.name === 'data' && type.endsWith(PAGE));
  const rows = new Set([...stored.keys(), ...ofPages.map(({ field }) => getNamedType(field.type).name)]);
  for (const { type, field } of fields) {
    if (field.name === 'id' && rows.has(type)) field.resolve ??= idOfRow;
  }
}

function idOfRow(row: unknown): unknown {
  const { _id, id } = row as { readonly _id?: unknown; readonly id?: unknown };
  return _id ?? id;
}

/** The member of a stored object that is the value of a field; undefined if a resolver makes it. */
export function memberOf({ name, resolve }: { readonly name: string; readonly resolve?: unknown }): string | undefined {
  if (resolve === idOfRow) return '_id';
  return resolvesToMember(resolve) ? name : undefined;
}

/** Whether the member of an object is one by which rows and files are found: rows with another text than a UUID in lower case are not served. */
export function isStoredId(type: GraphQLOutputType, member: string): boolean {
  return member === '_id' || (member === 'id' && isAttachmentsType(type));
}

/** Whether rows may lack the member of a field that is never null: metadata and attachments, which are then empty. */
export function mayBeAbsent({ type }: Pick<Field, 'type'>): boolean {
  return isMetadataType(type) || isAttachmentsType(type);
}

/** The form of the keys, if the field is metadata. */
export function keysOfMetadata({ type }: Pick<Field, 'type'>): RegExp | undefined {
  return isMetadataType(type) ? METADATA_KEY : undefined;
}

/** The pattern that the texts of a field have; undefined if the SDL gives none. */
export function patternOfField({ astNode }: Pick<Field, 'astNode'>): RegExp | undefined {
  return patternOf(astNode);
}

/** Restores the descriptions of scalars, since the scalar objects replace those of the SDL. */
function describeScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isScalarType)) {
    type.description ??= type.astNode?.description?.value;
  }
}
