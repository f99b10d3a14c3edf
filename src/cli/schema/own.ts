import { existsSync, readFileSync } from 'node:fs';
import { type DefinitionNode, Kind } from 'graphql';
import { ruleErrors } from '../../resources/ownRules';
import { ownErrors } from '../../schema/own/check';
import { SchemaModel } from '../../schema/model';
import { type StoredType, ownerOf } from '../../schema/storedTypes';
import { readOurs } from '../../sdl/files';
import { ownFolder, ownPath } from '../../sdl/folder';
import { joined, readOwn } from '../../sdl/own';
import { faultInRecord } from '../../stored/invalidRows';
import { fromRecord } from '../../stored/records';
import { CommandFailure } from '../ending';

/* The folder of the user's schema, before a command uses it. */

/** Everything that is wrong with the folder that is used, a line each. */
export function errorsOfFolder(folder: string): string[] {
  const errors = ownErrors(folder);
  if (errors.length > 0) return errors;
  const own = readOwn(folder, { noLocation: true });
  const { stored } = new SchemaModel(joined(readOurs({ noLocation: true }), own));
  const added = [...stored.values()].filter(({ type }) => own.definitions.some((node) => defines(node, type)));
  return [
    ...ruleErrors([...stored.keys()]),
    ...added.filter((one) => !ownerOf(one, stored.values())).flatMap(exampleErrors),
  ];
}

/** @throws CommandFailure with every error, if a folder is used that is wrong */
export function refuseErrors(): void {
  const folder = ownFolder();
  const errors = folder === undefined ? [] : errorsOfFolder(folder);
  if (errors.length > 0) throw new CommandFailure(['invalid schema:', ...errors].join('\n'));
}

function defines(node: DefinitionNode, type: string): boolean {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === type;
}

/** An example is what the demo stores and the API reference shows. */
function exampleErrors(stored: StoredType): string[] {
  const path = ownPath('examples', `${stored.collection}.json`) ?? '';
  if (!existsSync(path)) return [`${path}: is missing: write an object of ${stored.type}, as export does`];
  let example: unknown;
  try {
    example = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return [`${path}: is not JSON: ${(error as Error).message}`];
  }
  if (typeof example !== 'object' || example === null) return [`${path}: is not an object`];
  const { _id: id, ...members } = fromRecord(example as Readonly<Record<string, unknown>>, stored);
  const fault = faultInRecord(stored)({ id, ...members });
  const unknown = Object.keys(example).filter((name) => !stored.members.some((member) => member.name === name));
  return [
    ...(fault ? [`${path}: ${fault.pointer ?? ''}: ${fault.detail}`] : []),
    ...unknown.map((name) => `${path}: /${name}: is not a member of ${stored.type}`),
  ];
}
