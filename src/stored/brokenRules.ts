import type { Fault } from '../errors';
import { toRecord } from './records';
import type { Resource } from './resource';

/**
 * The rules of a whole object that a row breaks, as keys are told: of a rule that failed only that it did, since its error may quote what they
 * must not see.
 */
export function brokenRules({ rules, stored: { type } }: Resource, row: { readonly _id: string }): readonly Fault[] {
  const detail = `could not be checked, since the rule of ${type} failed; the log of the gateway says why`;
  return (rules?.(toRecord(row)) ?? []).map((fault) => (fault.code === 'rule' ? { ...fault, detail } : fault));
}
