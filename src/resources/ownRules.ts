import { existsSync } from 'node:fs';
import type { Fault } from '../errors';
import { ownPath } from '../sdl/folder';
import type { ImportRecord, RecordRules } from '../stored/records';

/* Rules of the user across the members of an object: rules.mjs in the folder of the schema, with a function for each type. */

/** Says what is wrong: where, as a JSON Pointer, and a sentence. */
type Say = (pointer: string, detail: string) => void;
type OwnRule = (record: ImportRecord, tools: { readonly fault: Say }) => unknown;
type Exports = Readonly<Record<string, unknown>>;

let loaded: Exports | undefined;

/** What rules.mjs exports, loaded once. @throws the error of the module */
export function ownRules(): Exports {
  const path = ownPath('rules.mjs');
  if (path === undefined || !existsSync(path)) return {};
  // not import(), which tests and programs made by bundlers replace by a require of their own
  return (loaded ??= process.getBuiltinModule('node:module').createRequire(path)(path) as Exports);
}

/** Our rules of a type, then those of the user. */
export function withOwnRules(type: string, ours: RecordRules = {}): RecordRules {
  const own = ownRules()[type] as OwnRule | undefined;
  if (!own) return ours;
  return {
    ...ours,
    rules: (record) => {
      const faults = [...(ours.rules?.(record) ?? [])];
      own(record, { fault: (pointer, detail) => faults.push(faultOf(pointer, detail)) });
      return faults;
    },
  };
}

function faultOf(pointer: string, detail: string): Fault {
  return { pointer, code: 'invalid', detail };
}
