import { resolve } from 'node:path';

/* The folder of the user's schema. It is not read from the configuration, which is read after the schema: options of commands name scopes. */

const { SCHEMA_DIR: given = '' } = process.env;
/** What SCHEMA_DIR is to go without the folder that a database is served with. */
const NONE = 'none';
let folder = ['', NONE].includes(given) ? undefined : given;

/** Whether it was said that there is no folder. */
export const isWithoutFolder = given === NONE;

/** The folder as it was named; undefined if there is none. */
export function ownFolder(): string | undefined {
  return folder;
}

/** Uses another folder than that of SCHEMA_DIR; before the schema is read. */
export function useFolder(path: string): void {
  folder = path;
}

/** A file of the user's folder; undefined if there is no folder. */
export function ownPath(...parts: readonly string[]): string | undefined {
  return folder === undefined ? undefined : resolve(folder, ...parts);
}
