import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefinitionNode, isTypeDefinitionNode } from 'graphql';
import { ownErrors } from '../../schema/own/check';
import { SchemaModel } from '../../schema/model';
import { directiveOf, isObjectNode } from '../../schema/sdl';
import { type StoredType, ownerOf } from '../../schema/storedTypes';
import { readOurs } from '../../sdl/files';
import { ownFolder } from '../../sdl/folder';
import { joinDocuments, readOwn } from '../../sdl/own';
import { refuseSchema } from '../ending';
import type { ReadRecord } from '../records';
import { ruleErrors } from './rules';

/* Checks the folder of the user's schema, before a command uses it; `own` is what it has, `ours` what Scopegate has. */

/**
 * Everything that is wrong with the folder in use, a line each. Its *.graphql can be parsed, or importing this module would have thrown: `check.ts`
 * parses them before it does. With `runsRules`, its rules are run over its examples.
 */
export async function parsedFolderErrors(
  folder: string,
  { runsRules }: { readonly runsRules: boolean },
): Promise<string[]> {
  const own = readOwn(folder, { noLocation: true });
  const model = new SchemaModel(joinDocuments(readOurs({ noLocation: true }), own));
  const errors = [...ownErrors(folder), ...ruleErrors(storedIn(model), join(folder, 'rules.mjs'))];
  // to read examples, the schema must be valid
  if (errors.length > 0) return errors;
  return examplesErrors(folder, model, own.definitions, await exampleReader(runsRules));
}

const storedIn = ({ document }: SchemaModel): string[] =>
  document.definitions.flatMap((node) => (isObjectNode(node) && directiveOf(node, 'stored') ? [node.name.value] : []));

/** @throws CommandFailure with every error, if a folder is used that is wrong */
export async function refuseFolder(how: Parameters<typeof parsedFolderErrors>[1]): Promise<void> {
  const folder = ownFolder();
  if (folder !== undefined) refuseSchema(await parsedFolderErrors(folder, how));
}

/** Checks examples/COLLECTION.json, which the demo stores and the API reference shows: required of the user's types, optional of built-in ones. */
function examplesErrors(
  folder: string,
  { stored }: SchemaModel,
  ownDefinitions: readonly DefinitionNode[],
  read: ReadExample,
): string[] {
  const examples = join(folder, 'examples');
  const files = existsSync(examples) ? readdirSync(examples).filter((file) => !file.startsWith('.')) : [];
  const isOwn = (type: string): boolean =>
    ownDefinitions.some((node) => isTypeDefinitionNode(node) && node.name.value === type);
  // parts of other objects, such as messages, are in the examples of these
  const wholes = [...stored.values()].filter((storedType) => !ownerOf(storedType, stored.values()));
  const exampleFiles = wholes.map(fileOf);
  return [
    ...files
      .filter((file) => !exampleFiles.includes(file))
      .map((file) => `${join(examples, file)}: is not read: write one of ${exampleFiles.join(', ')}`),
    ...wholes
      .filter((storedType) => isOwn(storedType.type) || files.includes(fileOf(storedType)))
      .flatMap((storedType) => exampleErrors(join(examples, fileOf(storedType)), storedType, read)),
  ];
}

function exampleErrors(path: string, { type }: StoredType, read: ReadExample): string[] {
  if (!existsSync(path)) return [`${path}: is missing: write an object of ${type}, as export does`];
  const result = read(type, readFileSync(path, 'utf8'));
  if ('record' in result) return [];
  return result.faults.map(({ pointer = '', detail }) => `${path}: ${pointer === '' ? '' : `${pointer}: `}${detail}`);
}

type ReadExample = (type: string, text: string) => ReturnType<ReadRecord>;

/** Reads examples as import does, but for the rules unless `runsRules`. */
async function exampleReader(runsRules: boolean): Promise<ReadExample> {
  // imported only now, since what the SDL's types are made into throws if the SDL is wrong
  const [{ recordKinds }, { recordReaders }] = await Promise.all([
    import('../../resources/index.js'),
    import('../records.js'),
  ]);
  const kinds = recordKinds.map((kind) => (runsRules ? kind : { ...kind, rules: () => [] }));
  const reader = recordReaders(kinds);
  return (type, text) => {
    // a type without records is only a part of others, and has no examples
    const kind = kinds.find((candidate) => candidate.type === type);
    return kind ? reader(kind)({ text }) : { faults: [] };
  };
}

const fileOf = ({ collection }: StoredType): string => `${collection}.json`;
