import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefinitionNode, isTypeDefinitionNode } from 'graphql';
import { withOwnRules } from '../../resources/ownRules';
import { RULES } from '../../resources/rules';
import { ownErrors } from '../../schema/own/check';
import { SchemaModel } from '../../schema/model';
import { directiveOf, isObjectNode } from '../../schema/sdl';
import { type StoredType, ownerOf } from '../../schema/storedTypes';
import { readOurs } from '../../sdl/files';
import { ownFolder } from '../../sdl/folder';
import { joinDocuments, readOwn } from '../../sdl/own';
import { faultInRecord } from '../../stored/invalidRows';
import { fromRecord, type ImportRecord } from '../../stored/records';
import { refuseSchema } from '../ending';
import { ruleErrors } from './rules';

/* The folder of the user's schema, before a command uses it. */

/**
 * Everything that is wrong with the folder in use, whose *.graphql can be parsed, a line each. `runsRules` is whether its rules are run over its
 * examples.
 */
export function parsedFolderErrors(folder: string, { runsRules }: { readonly runsRules: boolean }): string[] {
  const own = readOwn(folder, { noLocation: true });
  const model = new SchemaModel(joinDocuments(readOurs({ noLocation: true }), own));
  const errors = [...ownErrors(folder), ...ruleErrors(storedIn(model), join(folder, 'rules.mjs'))];
  // examples are read by a schema that is valid
  if (errors.length > 0) return errors;
  const wrong = examplesErrors(folder, model, own.definitions);
  return wrong.length > 0 || !runsRules ? wrong : brokenByExamples(folder, model);
}

const storedIn = ({ document }: SchemaModel): string[] =>
  document.definitions.flatMap((node) => (isObjectNode(node) && directiveOf(node, 'stored') ? [node.name.value] : []));

/** @throws CommandFailure with every error, if a folder is used that is wrong */
export function refuseFolder(how: Parameters<typeof parsedFolderErrors>[1]): void {
  const folder = ownFolder();
  if (folder !== undefined) refuseSchema(parsedFolderErrors(folder, how));
}

/** Checks examples/TYPE.json, which the demo stores and the API reference shows: required of the user's types, optional of built-in ones. */
function examplesErrors(folder: string, { stored }: SchemaModel, ownDefinitions: readonly DefinitionNode[]): string[] {
  const examples = join(folder, 'examples');
  const files = existsSync(examples) ? readdirSync(examples).filter((file) => !file.startsWith('.')) : [];
  const isOwn = (type: string): boolean =>
    ownDefinitions.some((node) => isTypeDefinitionNode(node) && node.name.value === type);
  const shown = [...stored.values()].filter((storedType) => !ownerOf(storedType, stored.values()));
  const exampleFiles = shown.map(fileOf);
  return [
    ...files
      .filter((file) => !exampleFiles.includes(file))
      .map((file) => `${join(examples, file)}: is not read: write one of ${exampleFiles.join(', ')}`),
    ...shown
      .filter((storedType) => isOwn(storedType.type) || files.includes(fileOf(storedType)))
      .flatMap((storedType) => exampleErrors(join(examples, fileOf(storedType)), storedType)),
  ];
}

function exampleErrors(path: string, stored: StoredType): string[] {
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

/** The rules that valid examples break, and those that fail on them. */
function brokenByExamples(folder: string, { stored }: SchemaModel): string[] {
  return [...stored.values()].flatMap((storedType) => {
    const path = join(folder, 'examples', fileOf(storedType));
    const { rules } = withOwnRules(storedType.type, RULES[storedType.type]);
    if (!rules || !existsSync(path)) return [];
    const faults = rules(JSON.parse(readFileSync(path, 'utf8')) as ImportRecord);
    return faults.map(({ pointer = '', detail }) => `${path}: ${pointer === '' ? '' : `${pointer}: `}${detail}`);
  });
}

const fileOf = ({ collection }: StoredType): string => `${collection}.json`;
