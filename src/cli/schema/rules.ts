import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ownRules } from '../../resources/ownRules';
import { ownPath } from '../../sdl/folder';

/* What is wrong with rules.mjs in the folder of the user's schema. */

/** The errors in rules.mjs of the folder in use, a line each. `types` are the types with @stored; `name` is the file as messages name it. */
export function ruleErrors(types: readonly string[], name: string): string[] {
  try {
    return Object.entries(ownRules()).flatMap(([key, rule]) => {
      const error = errorOf(key, rule, types);
      return error === undefined ? [] : [`${name}${lineOf(key)}: ${error}`];
    });
  } catch (error) {
    const [message = ''] = String(error).split('\n');
    return [`${name}${lineIn(textOf(error))}: cannot be loaded: ${message}`];
  }
}

function errorOf(key: string, rule: unknown, types: readonly string[]): string | undefined {
  // what Node adds to a module with a default export
  if (key === '__esModule') return undefined;
  if (key === 'default') return 'has export default: write export const Invoice = …, by the name of a type';
  if (!types.includes(key)) return `exports ${key}, which is not a type with @stored: name one of ${types.join(', ')}`;
  // a message is stored with its request, whose rules see both; types of one's own have rules even if they are parts
  if (key === 'Message') return 'exports Message, but messages have no rules: write one for Request';
  if (typeof rule !== 'function') return `exports ${key}, which is not a function: write (record, { fault }) => …`;
  if (/^class\b/.test(Function.prototype.toString.call(rule)))
    return `exports ${key}, which is a class, but rules are called without new: make it a plain function`;
  // not AsyncFunction or GeneratorFunction
  if (rule.constructor.name === 'Function') return undefined;
  return `exports ${key}, which is asynchronous, but rules are called in a transaction: make it a plain function`;
}

/** The line on which the file exports a name, as `:3`; empty if no line that begins with `export` has it. */
function lineOf(key: string): string {
  const lines = readFileSync(ownPath('rules.mjs') ?? '', 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith('export') && line.split(/[^\w$]+/).includes(key));
  return at < 0 ? '' : `:${String(at + 1)}`;
}

/** The text with the place of an error. The stack of a syntax error lacks it, but not what Node prints of it. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (!(error instanceof SyntaxError)) return error.stack ?? '';
  return spawnSync(process.execPath, ['--check', ownPath('rules.mjs') ?? ''], { encoding: 'utf8' }).stderr;
}

/** The first line of the file that a text names, as `:3`. */
function lineIn(text: string): string {
  const [, after = ''] = text.split(ownPath('rules.mjs') ?? '');
  return /^:\d+/.exec(after)?.[0] ?? '';
}
