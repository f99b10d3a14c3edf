import { resourceOf } from '../../src/resources';
import { faultInRecord } from '../../src/stored/invalidRows';
import { toRecord } from '../../src/stored/records';
import { northwind } from '../support/factories';

test('metadata with a key twice is no record, of which one value would be missing', () => {
  const { id, ...product } = northwind('products')[0]! as unknown as { readonly id: string };
  const faultOf = (...keys: readonly string[]) => {
    const metadata = keys.map((key) => ({ key, value: '1' }));
    const { created_at, updated_at, ...others } = product as Record<string, unknown>;
    const times = { created_at: new Date(String(created_at)), updated_at: new Date(String(updated_at)) };
    return faultInRecord(resourceOf('products').stored)(toRecord({ _id: id, ...others, ...times, metadata } as never));
  };
  expect(faultOf('a', 'b')).toBeUndefined();
  expect(faultOf('a', 'a')).toMatchObject({ pointer: '/metadata' });
});
