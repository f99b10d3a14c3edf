import { readText } from './smallFile';

/** The name of a variable and what is wrong with it. */
export type VariableError = readonly [name: string, error: string];

/** The variable that names the file of a secret. */
export const fileVariable = (name: string): string => `${name}_FILE`;

/** Reads those of the named secrets that are in files, as `values` by the secret's own variable; `errors` are of files that cannot be used. Never throws. */
export function readSecretFiles(
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): { readonly values: Record<string, string>; readonly errors: VariableError[] } {
  const values: Record<string, string> = {};
  const errors: VariableError[] = [];
  for (const name of names) {
    const path = variables[fileVariable(name)];
    if (path === undefined) continue;
    const add = (text: string): void => void errors.push([fileVariable(name), text]);
    if (variables[name] !== undefined) {
      add(`is set, and so is ${name}; set only one of them`);
      continue;
    }
    const read = readSecret(path);
    if ('error' in read) add(read.error);
    else values[name] = read.secret;
  }
  return { values, errors };
}

/** The text of a secret's file without the line break at its end, or what is wrong with the file. */
function readSecret(path: string): { readonly secret: string } | { readonly error: string } {
  const read = readText(path);
  if ('error' in read) return read;
  // editors and echo end a file with a line break, which is not part of the secret
  const secret = read.text.replace(/[\r\n]+$/, '');
  return secret === '' ? { error: `${path} is empty` } : { secret };
}
