import { type DefinitionNode, type FieldDefinitionNode, Kind } from 'graphql';
import { published } from '../schema/model';
import { isWithoutFolder, ownFolder } from '../sdl/folder';
import { nameOf } from '../sdl/nodes';
import { readOwn } from '../sdl/own';
import type { Control } from '../organisations/control';
import { CommandFailure } from './ending';
import { listed, warn } from './terminal';

/*
 * What the folder of SCHEMA_DIR adds is recorded in the control database, since a process without it would leave rows out of exports, events and
 * keys without a word.
 */

/** How many names a message has. */
export const MOST = 10;

/** A database is served with a folder, and this process has none. */
export class FolderMissingError extends CommandFailure {
  constructor(readonly detail: string) {
    super(`${detail}: ${SET_FOLDER}`);
  }
}

export const SET_FOLDER = 'set SCHEMA_DIR to that folder, or to none to go on without what it adds';

/** What the folder adds, as `invoices`, `Quote.project_code` and `QuoteStatus.negotiating`. */
export function addedNames(): string[] {
  const folder = ownFolder();
  const names = folder === undefined ? [] : readOwn(folder, { noLocation: true }).definitions.flatMap(namesIn);
  return [...new Set(names)].toSorted();
}

function namesIn(node: DefinitionNode): string[] {
  const name = nameOf(node);
  const { collection } = published.stored.get(name) ?? {};
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
      return collection === undefined ? [] : [collection];
    case Kind.OBJECT_TYPE_EXTENSION:
      return (node.fields ?? []).filter((field) => isStored(name, field)).map((field) => `${name}.${field.name.value}`);
    case Kind.ENUM_TYPE_EXTENSION:
      return name === 'Scope' ? [] : (node.values ?? []).map((value) => `${name}.${value.name.value}`);
    default:
      return [];
  }
}

/** Whether it is no relation, nor an operation. */
function isStored(type: string, { name, arguments: args }: FieldDefinitionNode): boolean {
  const isRelation =
    published.stored.get(type)?.relations.some(({ field }) => field.name.value === name.value) ?? false;
  return !isRelation && (args ?? []).length === 0 && !['Query', 'Mutation'].includes(type);
}

/** What is recorded, and the folder of this process lacks. @throws FolderMissingError if it has none, and nobody said so */
export function lackingNames(recorded: readonly string[]): string[] {
  if (recorded.length > 0 && ownFolder() === undefined && !isWithoutFolder)
    throw new FolderMissingError(
      `this database is served with a schema of your own, which adds ${listed(recorded, MOST)}`,
    );
  const ownNames = new Set(addedNames());
  return recorded.filter((name) => !ownNames.has(name)).toSorted();
}

/** Records what the folder adds. */
export async function recordNames(control: Control): Promise<void> {
  const names = addedNames().filter((name) => !control.added.includes(name));
  if (names.length > 0) await control.recordAdded(names);
}

/** Warns of what the folder lacks, unless it was said that there is none. */
export function warnOfNames(lacking: readonly string[]): void {
  if (lacking.length > 0 && !isWithoutFolder)
    warn(`the folder of SCHEMA_DIR lacks ${listed(lacking, MOST)}, with which this database is served; ${LACKING}`);
}

export const LACKING = 'use the folder that has it or, if it was removed for good, run scopegate doctor --fix';
