import { resourceOf } from '../../src/resources';
import { faultInRecord } from '../../src/stored/invalidRows';
import { readRecords } from '../../src/stored/records';
import { northwind } from '../support/factories';

test('metadata with a key twice is no record, of which one value would be missing', async () => {
  const { id, ...product } = northwind('products')[0]! as unknown as { readonly id: string };
  const products = resourceOf('products');
  const faultOf = async (...keys: readonly string[]) => {
    const metadata = keys.map((key) => ({ key, value: '1' }));
    const { created_at, updated_at, ...others } = product as Record<string, unknown>;
    const times = { created_at: new Date(String(created_at)), updated_at: new Date(String(updated_at)) };
    const row = { _id: id, ...others, ...times, metadata };
    const data = { collection: () => ({ find: () => [row] }) };
    const { value: record } = await readRecords(data as never, products).next();
    return faultInRecord(products.stored)(record as never);
  };
  expect(await faultOf('a', 'b')).toBeUndefined();
  expect(await faultOf('a', 'a')).toMatchObject({ pointer: '/metadata/1/key', code: 'duplicate' });
});
