import type * as Sample from '../../src/resources/sample';
import { recordKinds } from '../../src/resources';
import { storeRecords } from '../../src/stored/records';
import { northwind } from './factories';

/*
 * Stands for `src/resources/sample` in tests in which sandboxes are filled again and again: the first rows of each file.
 *   jest.mock('../../../src/resources/sample', () => jest.requireActual('../../support/smallSample'));
 */

export const ROWS = 20;

export const storeSample: typeof Sample.storeSample = async (data, by) => {
  for (const kind of recordKinds) await storeRecords(kind, data, northwind(kind.file).slice(0, ROWS), { by });
  return { stored: ROWS * recordKinds.length, refused: 0 };
};
