import { choose, chooseAll, type Given, upsertResolvers } from '../../stored/upsert';
import { type Product, products } from './products';

/** Members of a product that an upsert can clear. */
type Clearable = Omit<Product, '_id' | 'sku' | 'name' | 'search' | 'created_at' | 'updated_at'>;

/** A product from a bulk call, validated. */
export interface ProductUpsert extends Given<Clearable> {
  readonly sku: string;
  /** Always set if the object is new. */
  readonly name?: string;
}

const CLEARED: Omit<Clearable, 'currency'> = {
  description: null,
  category: null,
  uom: 'each',
  unit_price_minor: null,
  vat_exempt: false,
  lead_time_days: null,
  active: true,
};

/** Creates and updates products by sku; new ones have the organisation's currency unless they name one. */
export const productResolvers = upsertResolvers<Product, ProductUpsert>({
  collection: products,
  merge: (existing, input, { currency }) => {
    const members = {
      sku: input.sku,
      // validation has made sure that a new object has a name
      name: choose(input.name, existing?.name, ''),
      ...chooseAll(input, existing, { ...CLEARED, currency }),
    };
    return { ...members, search: products.words(members) };
  },
});
