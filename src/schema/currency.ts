import { GraphQLCurrency } from 'graphql-scalars';
import { accepts } from './scalars';

/*
 * Currency codes of ISO 4217. The list is that of graphql-scalars, corrected by ISO's list one of 2026-01-01: it lacks two
 * codes and has six that were withdrawn.
 */

const NOT_LISTED_YET: readonly string[] = ['VED', 'XAD'];
const WITHDRAWN: readonly string[] = ['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'];

/** Precious metals, units of account and codes for tests: ISO 4217 has no minor unit for them, so that no amount can be written. */
const WITHOUT_MINOR_UNIT: readonly string[] = 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' ');

const CODE = /^[A-Z]{3}$/;
/** Knows every code that was ever in use, including the German mark. Made when first needed, as that takes 25 ms. */
let names: Intl.DisplayNames | undefined;

/** Whether a code is in use and has a minor unit, as required of the currency of a price. */
export function isCurrency(code: string): boolean {
  return (
    CODE.test(code) &&
    !WITHDRAWN.includes(code) &&
    !WITHOUT_MINOR_UNIT.includes(code) &&
    (NOT_LISTED_YET.includes(code) || accepts(GraphQLCurrency, code))
  );
}

/** Whether a code is or was in use, since sales from before the euro keep their currency. */
export function wasCurrency(code: string): boolean {
  if (isCurrency(code)) return true;
  names ??= new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
  return CODE.test(code) && names.of(code) !== undefined;
}
