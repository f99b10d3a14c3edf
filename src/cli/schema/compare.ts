import { readFileSync, statSync } from 'node:fs';
import {
  buildASTSchema,
  buildSchema,
  type DocumentNode,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
} from 'graphql';
import { keySdl } from '../../graphql';
import { SchemaModel } from '../../schema/model';
import { ownErrors } from '../../schema/own/check';
import { readOurs } from '../../sdl/files';
import { joinDocuments, readOwn } from '../../sdl/own';
import { readFault } from '../../sdl/readFault';
import { CommandFailure, refuseSchema } from '../ending';
import { behaviourChanges, type Changes } from './behaviour';

/** A schema as keys see it, and with its directives, if they are known. */
interface Compared {
  readonly types: GraphQLSchema;
  readonly model: SchemaModel | undefined;
}

/**
 * What differs in a folder from another one, or from a file that `scopegate schema` wrote; `folder` undefined is the schema without additions.
 * @throws CommandFailure if a folder is invalid, or a file cannot be read or parsed
 */
export function changesOf(against: string, folder: string | undefined): Changes & { readonly hasDirectives: boolean } {
  const before = isFolder(against) ? ofFolder(against) : ofFile(against);
  const now = ofFolder(folder);
  const inBehaviour =
    before.model && now.model ? behaviourChanges(before.model, now.model) : { breaking: [], safe: [] };
  return {
    breaking: [
      ...findBreakingChanges(before.types, now.types).map(({ description }) => description),
      ...inBehaviour.breaking,
    ],
    safe: [
      ...findDangerousChanges(before.types, now.types).map(({ description }) => description),
      ...addedTo(before.types, now.types),
      ...inBehaviour.safe,
    ],
    hasDirectives: before.model !== undefined,
  };
}

function ofFile(path: string): Compared {
  const document = documentOf(path);
  // schema --directives writes their definitions, too
  if (document.definitions.some(({ kind }) => kind === Kind.DIRECTIVE_DEFINITION))
    return ofModel(new SchemaModel(document));
  return { types: buildASTSchema(document, { assumeValidSDL: true, assumeValid: true }), model: undefined };
}

/** @throws CommandFailure that names the file, and the line that cannot be parsed */
function documentOf(path: string): DocumentNode {
  try {
    return parse(readFileSync(path, 'utf8'), { noLocation: true });
  } catch (error) {
    throw new CommandFailure(readFault(path, error));
  }
}

function ofFolder(path: string | undefined): Compared {
  const ours = readOurs({ noLocation: true });
  if (path === undefined) return ofModel(new SchemaModel(ours));
  refuseSchema(ownErrors(path));
  return ofModel(new SchemaModel(joinDocuments(ours, readOwn(path, { noLocation: true }))));
}

/** Reads as keys see it a schema that was checked when its folder was, or when it was written. */
function ofModel(model: SchemaModel): Compared {
  const whole = buildASTSchema(model.document, { assumeValidSDL: true, assumeValid: true });
  return { types: buildSchema(keySdl(whole, model.operations), { assumeValid: true }), model };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** What the schema has now and had not before; graphql-js lists only additions that may surprise. */
function addedTo(before: GraphQLSchema, now: GraphQLSchema): string[] {
  return Object.values(now.getTypeMap()).flatMap((type) => {
    const old = before.getType(type.name);
    if (!old) return [`${type.name} was added.`];
    // graphql-js names values of enums and members of inputs
    const names = (definition: typeof type): string[] =>
      isObjectType(definition) ? Object.keys(definition.getFields()) : [];
    const oldNames = new Set(names(old));
    return names(type).flatMap((name) => (oldNames.has(name) ? [] : `${type.name}.${name} was added.`));
  });
}
