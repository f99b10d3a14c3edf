import { isDuplicateKey } from '../mongo/faults';
import { AppError, validationFailed } from '../errors';
import { type Faults, LISTED_OF_ELEMENT } from './elementFaults';

/* What calls of many elements have in common, of keys and of operators. */

/** How often a call is attempted if others take the same unique values at the same time, at once, since the next attempt finds these and changes them; chosen. The driver repeats the transaction of a write conflict. */
const ATTEMPTS = 5;

/** Stores the elements of a call in one transaction, again if others took a value first. @throws AppError conflict if they keep being faster */
export async function storeAgain<T>(store: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
}

/** @throws AppError validation_failed, or internal if all faults are failed rules, with the first of each element and the number of the others. */
export function refuseFaults(steps: readonly { readonly checked: Faults }[]): void {
  const total = steps.reduce((sum, { checked }) => sum + checked.count, 0);
  if (total === 0) return;
  const faults = steps.flatMap(({ checked }) => checked.faults.slice(0, LISTED_OF_ELEMENT));
  const isTruncated = steps.some(({ checked }) => checked.isTruncated);
  throw validationFailed(faults, total - faults.length, isTruncated);
}
