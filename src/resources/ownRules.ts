import { existsSync } from 'node:fs';
import { type Fault, shorten } from '../errors';
import { ownPath } from '../sdl/folder';
import type { ImportRecord, RecordRules } from '../stored/records';

/* Rules of the user across the members of an object: rules.mjs in the folder of SCHEMA_DIR exports a function for each type, by its name. */

/** What rules call to report a fault: where, as a JSON Pointer, and a sentence. Unknown, since the user's code may give anything. */
type ReportFault = (pointer: unknown, detail: unknown) => void;
type OwnRule = (record: ImportRecord, tools: { readonly fault: ReportFault }) => unknown;
type Exports = Readonly<Record<string, unknown>>;

/** The most characters of a fault's detail. */
const MAX_DETAIL = 500;

let loaded: Exports | undefined;

/** What rules.mjs exports, loaded once. @throws the error of the module */
export function ownRules(): Exports {
  const path = ownPath('rules.mjs');
  if (path === undefined || !existsSync(path)) return {};
  // not import(), which tests and programs made by bundlers replace by a require of their own
  return (loaded ??= process.getBuiltinModule('node:module').createRequire(path)(path) as Exports);
}

/** The rules of a type: first those built in, then the user's. @throws the error of rules.mjs if it cannot be loaded */
export function withOwnRules(type: string, builtIn: RecordRules = {}): RecordRules {
  const rule = ownRules()[type] as OwnRule | undefined;
  if (!rule) return builtIn;
  return {
    ...builtIn,
    rules: (record) => {
      const faults = [...(builtIn.rules?.(record) ?? [])];
      const fault = (pointer: unknown, detail: unknown): void => void faults.push(faultOf(type, pointer, detail));
      // a copy, since some callers store the record
      refusePromise(type, rule(JSON.parse(JSON.stringify(record)) as ImportRecord, { fault }));
      return faults;
    },
  };
}

/** @throws Error if a rule calls `fault` with anything else than a JSON Pointer and a sentence */
function faultOf(type: string, pointer: unknown, detail: unknown): Fault {
  const isPointer = typeof pointer === 'string' && /^(\/|$)/.test(pointer);
  if (isPointer && typeof detail === 'string' && detail !== '')
    return { pointer, code: 'invalid', detail: shorten(detail, MAX_DETAIL) };
  const called = `fault(${shown(pointer)}, ${shown(detail)})`;
  throw wrongRule(type, `calls ${called}: write fault('/member', 'must …'), with a JSON Pointer and a sentence`);
}

/** An argument in a message. An object is not looked into, since its members may throw. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  return Object(value) === value ? typeof value : String(value);
}

/** @throws Error if a rule returned a promise, since nothing waits for it: its faults would come too late */
function refusePromise(type: string, returned: unknown): void {
  const { then } = (returned ?? {}) as { readonly then?: unknown };
  if (typeof then !== 'function') return;
  // unhandled, its rejection would end the process
  Promise.resolve(returned).catch(() => undefined);
  throw wrongRule(type, 'returns a promise, but rules are synchronous: they are called in a transaction');
}

const wrongRule = (type: string, what: string): Error =>
  new Error(`${String(ownPath('rules.mjs'))}: the rule ${type} ${what}`);
