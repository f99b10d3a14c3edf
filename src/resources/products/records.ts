import { documentKind } from '../common/documentKind';
import { type Product, products } from './model';
import { productWords } from './service';

export const productRecords = documentKind<Product>({
  file: 'products',
  type: 'Product',
  collection: products,
  uniqueBy: 'sku',
  times: ['created_at', 'updated_at'],
  search: productWords,
});
