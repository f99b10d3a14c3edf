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

export interface RuleFailure {
  readonly type: string;
  /** The path of rules.mjs. */
  readonly file: string;
  readonly error: Error;
}

let onFailure: (failure: RuleFailure) => void = () => undefined;

/** Sets what is told of each failure of a rule, for the whole process, since that loads the rules once. */
export function reportRuleFailures(report: typeof onFailure): void {
  onFailure = report;
}

/** Once loaded: rules that have changed need a restart. */
let loaded: Exports | undefined;

/** What rules.mjs exports, loaded once. @throws the error of the module */
export function ownRules(): Exports {
  const path = ownPath('rules.mjs');
  if (path === undefined || !existsSync(path)) return {};
  // not import(), which tests and programs made by bundlers replace by a require of their own
  return (loaded ??= process.getBuiltinModule('node:module').createRequire(path)(path) as Exports);
}

/**
 * The rules of a type: first those built in, then the user's. If that throws, the object has a fault with the code `rule`, whose detail is for
 * operators: it quotes the error, which keys are not told (stored/brokenRules.ts). @throws the error of rules.mjs if it cannot be loaded
 */
export function withOwnRules(type: string, builtIn: RecordRules = {}): RecordRules {
  const rule = ownRules()[type] as OwnRule | undefined;
  if (!rule) return builtIn;
  return {
    ...builtIn,
    rules: (record) => {
      const faults = [...(builtIn.rules?.(record) ?? [])];
      const fault = (pointer: unknown, detail: unknown): void => void faults.push(faultOf(pointer, detail));
      // a copy, since some callers store the record
      const copy = JSON.parse(JSON.stringify(record)) as ImportRecord;
      try {
        refusePromise(rule(copy, { fault }));
      } catch (thrown) {
        faults.push(failureOf(type, thrown));
      }
      return faults;
    },
  };
}

/** Reports that a rule failed. Returns the fault of its object. */
function failureOf(type: string, thrown: unknown): Fault {
  const error = asError(thrown);
  onFailure({ type, file: ownPath('rules.mjs') ?? '', error });
  const what = error instanceof WrongRule ? error.message : `threw ${error.name}: ${error.message}`;
  const line = `the rule of ${type} ${what}`.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return { pointer: '', code: 'rule', detail: shorten(line, MAX_DETAIL) };
}

/** What a rule threw, as an error with texts; its members may throw, too. */
function asError(thrown: unknown): Error {
  try {
    if (
      thrown instanceof Error &&
      [thrown.name, thrown.message, thrown.stack].every((text) => typeof text === 'string')
    )
      return thrown;
  } catch {
    // as if it was no error
  }
  return new WrongRule(`threw ${shown(thrown)}, which is not an error`);
}

/** @throws WrongRule if a rule calls `fault` with anything else than a JSON Pointer and a sentence */
function faultOf(pointer: unknown, detail: unknown): Fault {
  const isPointer = typeof pointer === 'string' && /^(\/|$)/.test(pointer);
  if (isPointer && typeof detail === 'string' && detail !== '')
    return { pointer, code: 'invalid', detail: shorten(detail, MAX_DETAIL) };
  const called = `fault(${shown(pointer)}, ${shown(detail)})`;
  throw new WrongRule(`calls ${called}: write fault('/member', 'must …'), with a JSON Pointer and a sentence`);
}

/** An argument in a message. An object is not looked into, since its members may throw. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  return Object(value) === value ? typeof value : String(value);
}

/** @throws WrongRule if a rule returned a promise, since nothing waits for it: its faults would come too late */
function refusePromise(returned: unknown): void {
  const { then } = (returned ?? {}) as { readonly then?: unknown };
  if (typeof then !== 'function') return;
  // unhandled, its rejection would end the process
  Promise.resolve(returned).catch(() => undefined);
  throw new WrongRule('returns a promise, but rules are synchronous: they are called in a transaction');
}

/** A mistake of a rule that no error of its own tells; the message follows its name. */
class WrongRule extends Error {
  override readonly name = 'WrongRule';
}
