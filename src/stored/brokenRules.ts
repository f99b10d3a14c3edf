import type { Fault } from '../errors';
import { toRecord } from './records';
import type { Resource } from './resource';

/**
 * The rules of a whole object that a row breaks, as callers with keys are told. Of a rule that threw an error (code `rule`) they learn only that
 * it failed, since the error may quote what they must not see.
 */
export function brokenRules({ rules, stored: { type } }: Resource, row: { readonly _id: string }): readonly Fault[] {
  const detail = `could not be checked, since the rule of ${type} failed; the log of the gateway says why`;
  return (rules?.(toRecord(row)) ?? []).map((fault) => (fault.code === 'rule' ? { ...fault, detail } : fault));
}
