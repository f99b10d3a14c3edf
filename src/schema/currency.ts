import { GraphQLCurrency } from 'graphql-scalars';

/*
 * Currency codes of ISO 4217. The list is graphql-scalars', held against ISO's list one of 2026-01-01: it lacks two codes
 * and keeps six that were withdrawn.
 */

const NOT_LISTED_YET: readonly string[] = ['VED', 'XAD'];
const WITHDRAWN: readonly string[] = ['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'];

const CODE = /^[A-Z]{3}$/;
/** Knows every code that ever was, the German mark too; needs no list of ours. */
const names = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });

/** Whether a text is a code that is in use: what a price may be set in. */
export function isCurrency(code: string): boolean {
  return CODE.test(code) && !WITHDRAWN.includes(code) && (NOT_LISTED_YET.includes(code) || isListed(code));
}

/** Whether a text is a code that is or was in use: what was sold before the euro stays as it was. */
export function wasCurrency(code: string): boolean {
  return isCurrency(code) || (CODE.test(code) && names.of(code) !== undefined);
}

function isListed(code: string): boolean {
  try {
    GraphQLCurrency.parseValue(code);
    return true;
  } catch {
    return false;
  }
}
