import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { ownRules } from '../../resources/ownRules';
import { ownPath } from '../../sdl/folder';

/* What is wrong with rules.mjs in the folder of the user's schema. */

/** `types` are those with @stored; `name` is the file as messages name it. */
export function ruleErrors(types: readonly string[], name: string): string[] {
  try {
    return Object.entries(ownRules()).flatMap(([key, rule]) => {
      const error = errorOf(key, rule, types);
      return error === undefined ? [] : [`${name}${lineOf(key)}: ${error}`];
    });
  } catch (error) {
    const [message = ''] = String(error).split('\n');
    const [file, line] = placeOf(error);
    const place = file === undefined ? name : relative('', file);
    return [`${place}${line === undefined ? '' : `:${line}`}: cannot be loaded: ${message}`];
  }
}

function errorOf(key: string, rule: unknown, types: readonly string[]): string | undefined {
  // what Node adds to a module with a default export
  if (key === '__esModule') return undefined;
  if (key === 'default') return 'has export default: write export const Invoice = …, by the name of a type';
  if (!types.includes(key)) return `exports ${key}, which is not a type with @stored: name one of ${types.join(', ')}`;
  if (typeof rule !== 'function') return `exports ${key}, which is not a function: write (record, { fault }) => …`;
  if (rule.constructor.name === 'Function') return undefined;
  return `exports ${key}, which is asynchronous, but rules are called in a transaction: make it a plain function`;
}

/** Where the file exports a name, as `:3`; empty if it is in another way than by a line of its own. */
function lineOf(key: string): string {
  const lines = readFileSync(ownPath('rules.mjs') ?? '', 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith('export') && line.split(/[^\w$]+/).includes(key));
  return at < 0 ? '' : `:${String(at + 1)}`;
}

const IN_MODULE = /(?:file:\/\/)?(\/[^\n]*?\.m?js):(\d+)/;

/** The file and line of an error. The stack of a syntax error lacks them, but not what Node prints of it. */
function placeOf(error: unknown): (string | undefined)[] {
  const path = ownPath('rules.mjs') ?? '';
  const text =
    error instanceof SyntaxError
      ? spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' }).stderr
      : String((error as Partial<Error> | undefined)?.stack);
  const [, file, line] = IN_MODULE.exec(text) ?? [];
  return [file, line];
}
