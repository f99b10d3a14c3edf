import { resolve } from 'node:path';

/*
 * The own folder: the schema of whoever runs the gateway (docs/guides/schema.md). SCHEMA_DIR is read here and not in config/, since the schema is
 * read before the configuration: the options of commands list its scopes.
 */

const { SCHEMA_DIR: given = '' } = process.env;
/** The SCHEMA_DIR of a process that goes without a folder on purpose, although gateways serve its database with one. */
export const NONE = 'none';
let folder = ['', NONE].includes(given) ? undefined : given;

/** Whether the process goes without a folder because SCHEMA_DIR is `none`. */
export function isWithoutFolder(): boolean {
  return given === NONE && folder === undefined;
}

/** The folder as it was named; undefined if there is none. */
export function ownFolder(): string | undefined {
  return folder;
}

/** Uses another folder than that of SCHEMA_DIR. Call it before the schema is read, which happens once, when schema/model.ts is loaded. */
export function useFolder(path: string): void {
  folder = path;
}

/** A file of the own folder; undefined if there is no folder. */
export function ownPath(...parts: readonly string[]): string | undefined {
  return folder === undefined ? undefined : resolve(folder, ...parts);
}
