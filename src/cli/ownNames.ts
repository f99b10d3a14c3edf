import { type DefinitionNode, type FieldDefinitionNode, Kind } from 'graphql';
import { published } from '../schema/model';
import { ownDefinitions } from '../sdl/files';
import { isWithoutFolder, ownFolder } from '../sdl/folder';
import { nameOf } from '../sdl/nodes';
import type { Control } from '../organisations/control';
import { CommandFailure } from './ending';
import { listed, warn } from './terminal';

/*
 * The names of what the folder of SCHEMA_DIR adds to the schema are recorded in the control database (`control.added`), since a process without
 * the folder would silently leave what it adds out of exports, events and scopes of keys.
 */

/** How many names a message lists. */
export const MOST_NAMES = 10;

/** The database is served with a folder, but this process has none, and SCHEMA_DIR is not `none`, which accepts that. */
export class FolderMissingError extends CommandFailure {
  constructor(readonly detail: string) {
    super(`${detail}: ${SET_FOLDER}`);
  }
}

export const SET_FOLDER = 'set SCHEMA_DIR to that folder, or to none to go on without what it adds';

/** What the folder adds, as `invoices`, `Quote.project_code` and `QuoteStatus.negotiating`. */
export function addedNames(): string[] {
  return [...new Set(ownDefinitions().flatMap(namesIn))].toSorted();
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
      // a scope stands for what needs it, which is listed
      return name === 'Scope' ? [] : (node.values ?? []).map((value) => `${name}.${value.name.value}`);
    default:
      return [];
  }
}

/** Whether a field of the type is stored: not a relation, nor an operation, nor computed from arguments. */
function isStored(type: string, { name, arguments: args }: FieldDefinitionNode): boolean {
  const isRelation =
    published.stored.get(type)?.relations.some(({ field }) => field.name.value === name.value) ?? false;
  return !isRelation && (args ?? []).length === 0 && !['Query', 'Mutation', 'Subscription'].includes(type);
}

/** The recorded names that the folder of this process lacks. @throws FolderMissingError if there is no folder, and SCHEMA_DIR is not `none` */
export function lackingNames(recorded: readonly string[]): string[] {
  if (recorded.length > 0 && ownFolder() === undefined && !isWithoutFolder())
    throw new FolderMissingError(
      `this database is served with a schema of your own, which adds ${listed(recorded, MOST_NAMES)}`,
    );
  const ownNames = new Set(addedNames());
  return recorded.filter((name) => !ownNames.has(name)).toSorted();
}

/** Records what the folder adds. */
export async function recordNames(control: Control): Promise<void> {
  const names = addedNames().filter((name) => !control.added.includes(name));
  if (names.length > 0) await control.recordAdded(names);
}

/** Warns of what the folder lacks, unless SCHEMA_DIR is `none`. */
export function warnOfNames(lacking: readonly string[]): void {
  if (lacking.length > 0 && !isWithoutFolder())
    warn(
      `the folder of SCHEMA_DIR lacks ${listed(lacking, MOST_NAMES)}, with which this database is served; ${LACKING_FIX}`,
    );
}

/** What to do if the folder lacks something. */
export const LACKING_FIX = 'use the folder that has it or, if it was removed for good, run scopegate doctor --fix';
