import {
  type ASTNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLError,
  isTypeDefinitionNode,
} from 'graphql';
import { readOurs } from '../../sdl/files';
import { nameOf } from '../../sdl/nodes';
import { joinDocuments, readOwn } from '../../sdl/own';
import { linesFrom, type SchemaError } from '../checks/errors';
import { collectionErrors, documentErrors, modelErrors } from '../checks';
import { derivedFields } from '../derivedFields';
import { SchemaModel } from '../model';
import { rowName } from '../sdl';
import { UnstorableError } from '../storedTypes';
import { extensionErrors } from './extensions';
import { shapeErrors } from './shapes';

/* Checks a folder of the user with our files, without a database and without anything that is made from the schema. */

/** What is wrong with the schema in a folder, one a line with file and line; none if it can be served. */
export function ownErrors(folder: string): string[] {
  const own = readOwn(folder, {});
  if (own.errors.length > 0) return [...own.errors];
  const ours = new SchemaModel(readOurs());
  const extensions = extensionErrors(ours, own.definitions);
  // a type that is there twice would get each extension twice
  const typeNames = new Set(
    ours.document.definitions.flatMap((node) => (isTypeDefinitionNode(node) ? nameOf(node) : [])),
  );
  const definitions = own.definitions.filter(
    (node) => !isTypeDefinitionNode(node) || (!typeNames.has(nameOf(node)) && typeNames.add(nameOf(node))),
  );
  const all = new SchemaModel(joinDocuments(ours.document, { definitions }));
  // reported already, in our words, as the extension that it is in
  const isKnown = ({ nodes = [] }: GraphQLError): boolean =>
    nodes.some((node) => extensions.some((error) => isWithin(node, error.node)));
  const errors = [...extensions, ...documentErrors(all.document, isKnown)];
  return linesFrom(errors.length > 0 ? errors : errorsOfModel(ours, all, own.definitions));
}

function isWithin({ loc }: ASTNode, node: ASTNode | undefined): boolean {
  const outer = node?.loc;
  return loc !== undefined && loc.source === outer?.source && loc.start >= outer.start && loc.end <= outer.end;
}

/** The errors of the whole schema (`all`). Built-in fields (`ours`) have resolvers, as tests ensure; fields of the user must be derived (derivedFields.ts). */
function errorsOfModel(ours: SchemaModel, all: SchemaModel, ownDefinitions: readonly DefinitionNode[]): SchemaError[] {
  const names = new Set(ours.fields.map(({ type, field }) => `${type}.${field.name.value}`));
  let derived: ReadonlySet<string> | undefined;
  const isDerived = (name: string): boolean =>
    (derived ??= new Set(derivedFields(all).map(({ type, field }) => `${type}.${field.name.value}`))).has(name);
  // arguments of fields that cannot be derived, whose own errors would only confuse
  const underived = new Set<ASTNode>();
  const unresolved = (place: string, field: FieldDefinitionNode): string => {
    for (const argument of field.arguments ?? []) underived.add(argument);
    const rows = all.stored.get(rowName(field) ?? '');
    return rows
      ? `${place} lists ${rows.type}, which has the collection ${rows.collection}: name it ${rows.collection}`
      : `${place} would need code, which a folder cannot have: possible are ${POSSIBLE}`;
  };
  try {
    // one line for a wrong collection, not one for each field that would be derived from it
    const collections = collectionErrors(all);
    if (collections.length > 0) return collections;
    const isResolved = (type: string, field: string): boolean =>
      names.has(`${type}.${field}`) || isDerived(`${type}.${field}`);
    const errors = modelErrors({ sdl: all, isResolved, unresolved });
    const ownErrors = errors.filter(({ node }) => !node || !underived.has(node));
    const reported = new Set(ownErrors.map(({ node }) => node));
    return [...ownErrors, ...shapeErrors(all, ownDefinitions).filter(({ node }) => !reported.has(node))];
  } catch (error) {
    if (!(error instanceof UnstorableError)) throw error;
    return [{ node: error.field, text: error.message }];
  }
}

/** What can be derived. */
const POSSIBLE = 'lists, reads by id, bulk calls, a PATCH of one object, @totals, and relations of stored types';
