import type { DefinitionNode } from 'graphql';
import { readOurs } from '../../sdl/files';
import { nameOf } from '../../sdl/nodes';
import { joined, readOwn } from '../../sdl/own';
import { linesFrom, type SchemaError } from '../checks/errors';
import { schemaErrors } from '../checks';
import { derivedFields } from '../derivedFields';
import { SchemaModel } from '../model';
import { extensionErrors } from './extensions';
import { shapeErrors } from './shapes';

/* Checks a folder of the user with our files, without a database and without anything that is made from the schema. */

/** What is wrong with the schema in a folder, one a line with file and line; none if it can be served. */
export function ownErrors(folder: string): string[] {
  const own = readOwn(folder, {});
  if (own.errors.length > 0) return [...own.errors];
  const ours = new SchemaModel(readOurs());
  const structural = extensionErrors(ours, own.definitions);
  if (structural.length > 0) return linesFrom(structural);
  return linesFrom(errorsOfModel(ours, new SchemaModel(joined(ours.document, own)), own.definitions));
}

/** Fields of ours have resolvers, as our own tests know; those of the user must be derived. */
function errorsOfModel(ours: SchemaModel, all: SchemaModel, own: readonly DefinitionNode[]): SchemaError[] {
  const names = new Set(ours.fields.map(({ type, field }) => `${type}.${field.name.value}`));
  let derived: ReadonlySet<string> | undefined;
  const isDerived = (name: string): boolean =>
    (derived ??= new Set(derivedFields(all).map(({ type, field }) => `${type}.${field.name.value}`))).has(name);
  try {
    const errors = schemaErrors(all, (type, field) => names.has(`${type}.${field}`) || isDerived(`${type}.${field}`));
    return errors.length > 0 ? errors : shapeErrors(all, own);
  } catch (error) {
    // such as a type that is stored in itself without end, which the model itself refuses
    return [
      {
        node: own.find((node) => 'name' in node && (error as Error).message.startsWith(`${nameOf(node)}.`)),
        text: (error as Error).message,
      },
    ];
  }
}
