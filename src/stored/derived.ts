import type { FieldDefinitionNode } from 'graphql';
import type { Projection } from '../mongo/collection';
import type { ListArguments, Page } from '../tenant/pagination';
import { fastListOf, fastObjectOf } from '../fastReads';
import { answerRefusal } from '../operations/answers';
import type { DataContext } from '../operations/context';
import { mergeResolvers, type Resolver, type Resolvers } from '../operations/run';
import { inSlices } from '../operations/slices';
import { tagOf } from '../schema/entityTags';
import type { SchemaModel } from '../schema/model';
import { type DerivedField, derivedFields } from '../schema/derivedFields';
import { METADATA, metadataValue } from '../schema/metadata';
import { defaultIn, directiveOf } from '../schema/sdl';
import { totalledAmounts, typeOf } from '../schema/storedTypes';
import { type ChangeArguments, changeObject } from './change';
import { asksForChanges, listPage, listPageText, readOne } from './collection';
import { isServed, requireServed } from './invalidRows';
import { listOfParent, type ParentListArguments } from './parentList';
import { projectionOfList, projectionOfObject } from './projections';
import { type Reference, referencesOf } from './referenceFaults';
import { listedRow, referredRow } from './references';
import type { Resource, Row } from './resource';
import { totals, type TotalsArguments } from './totals';
import { changeSpec, upsertResolvers } from './upsert';

/*
 * Resolvers derived from the SDL: lists and reads of stored types, references between them in both directions, entity tags, totals, and bulk
 * calls with the PATCH of one object.
 * Fields that do more have their own resolver, in their resource.
 */

export function deriveResolvers(sdl: SchemaModel, resources: readonly Resource[]): Resolvers {
  const byType = new Map(resources.map((resource) => [resource.stored.type, resource]));
  const resolvers = derivedFields(sdl).map((derived): Resolvers => {
    const resource = byType.get(derived.of.type);
    const owner = byType.get(derived.type);
    if (!resource) return {};
    if (derived.as === 'bulk') return upsertResolvers(derived.call, resource, referencesOf(resource, resources));
    const resolver =
      derived.as === 'change'
        ? changeResolver(sdl, resource, referencesOf(resource, resources))
        : resolverOf(sdl, derived, resource, owner ?? resource);
    return { [derived.type]: { [derived.field.name.value]: resolver } };
  });
  return mergeResolvers(...resolvers);
}

type Args = ListArguments & Readonly<Record<string, unknown>>;

/** The resolver of a field that leads to a resource. `owner` is the resource that the field's type is of; for fields of other types, `resource` itself. */
function resolverOf(
  sdl: SchemaModel,
  derived: Exclude<DerivedField, { readonly as: 'bulk' | 'change' }>,
  resource: Resource,
  owner: Resource,
): Resolver {
  switch (derived.as) {
    case 'totals':
      return totalsOf(sdl, derived.field, resource);
    case 'list':
      return listOf(derived.field, resource);
    case 'read':
      return readOf(resource, derived.field.name.value);
    case 'tag':
      return tagResolver(derived.type);
    case 'metadataValue':
      return (row, { key }) => metadataValue((row as Partial<Record<string, unknown>>)[METADATA], key as string);
    case 'reference':
      return refersTo(resource, derived.member);
    case 'parentList':
      return parentListOf(derived.field, resource, { collection: owner, field: derived.relation.member });
  }
}

function totalsOf(sdl: SchemaModel, field: FieldDefinitionNode, collection: Resource): Resolver {
  const { at = '' } = directiveOf(field, 'totals') ?? {};
  const { stored } = collection;
  const amounts = totalledAmounts(sdl, field, stored);
  const spec = { collection, at, isDay: typeOf(stored, at) === 'Date', amounts };
  const limited = createLimiter(field);
  return (_, rawArgs, context) => totals(context, spec, limited(rawArgs as TotalsArguments));
}

/** Gives arguments without a `limit` the default that the field declares for it. */
function createLimiter(field: FieldDefinitionNode) {
  const usual = defaultIn(field, 'limit');
  return <T extends { readonly limit?: number | null }>(args: T): T =>
    usual === undefined ? args : { ...args, limit: args.limit ?? usual };
}

function listOf(field: FieldDefinitionNode, listed: Resource): Resolver {
  const limited = createLimiter(field);
  const list: Resolver = async (_, rawArgs, context, info) => {
    const projection = projectionOfList(listed, info);
    const page = await listPage(context, listed, limited(rawArgs as Args), projection);
    return unlessRefused(context, servedPage(context, listed, page, projection));
  };
  const read: typeof listPageText = (data, collection, args, ...rest) =>
    listPageText(data, collection, limited(args), ...rest);
  return Object.assign(list, { fastReadOf: fastListOf(listed, { read, asksForChanges }) });
}

function readOf(read: Resource, name: string): Resolver {
  const readById: Resolver = async (_, { id }, context, info) => {
    const projection = projectionOfObject(read, info);
    const row = await readOne(context.data, read, id as string, name, projection);
    requireServed(context, read, row, projection);
    return row;
  };
  return Object.assign(readById, { fastReadOf: fastObjectOf(read, name) });
}

/** Changes members of one object; where there is a bulk call, the way that it does. */
function changeResolver({ upserts }: SchemaModel, resource: Resource, references: readonly Reference[]): Resolver {
  const call = upserts.find(({ stored }) => stored.type === resource.stored.type);
  const spec = { ...(call && changeSpec(call, resource)), references };
  return (_, args, context, info) => changeObject(resource, args as ChangeArguments, context, info, spec);
}

function parentListOf(
  field: FieldDefinitionNode,
  other: Resource,
  parent: { readonly collection: Resource; readonly field: string },
): Resolver {
  const limited = createLimiter(field);
  return async (row, rawArgs, context, info) => {
    const { _id: id } = row as Row;
    const args = limited(rawArgs as ParentListArguments);
    const projection = projectionOfList(other, info, parent.field);
    const read = (rowId: string) => listedRow({ resource: other, id: rowId, context, info }, projection);
    const { page, isChecked } = await listOfParent(context, other, parent, id, args, { projection, read });
    return unlessRefused(context, isChecked ? page : servedPage(context, other, page, projection));
  };
}

/** By row: a tag is a hash of the whole row, so it is computed once however often a query names it. */
const tags = new WeakMap<object, string | Promise<string>>();

/** Resolves to the entity tag of a row of a stored type. */
export function tagResolver(type: string): Resolver {
  return (row, _, context, { schema }) => {
    const knownTag = tags.get(row as object);
    if (knownTag !== undefined) return knownTag;
    const tag = inSlices(context, () => tagOf(schema, type, row as object));
    tags.set(row as object, tag);
    return tag;
  };
}

/** Resolves to the object whose id is in a member of a row. */
function refersTo(other: Resource, member: string): Resolver {
  return (row, _, context, info) => {
    const id = (row as Readonly<Record<string, unknown>>)[member];
    return typeof id === 'string' ? referredRow({ resource: other, id, context, info }) : null;
  };
}

/** The page without the rows that cannot be served. */
function servedPage<T extends Row>(
  context: DataContext,
  resource: Resource,
  page: Page<T>,
  projection: Projection,
): Page<T> {
  return { ...page, data: page.data.filter((row) => isServed(context, resource, row, projection)) };
}

/** The page without its rows if the answer is refused, since nobody gets it. */
function unlessRefused(context: DataContext, page: Page<Row>): Page<Row> {
  return answerRefusal(context) ? { ...page, data: [] } : page;
}
