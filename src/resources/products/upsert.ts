import type { OrganisationData } from '../../database/organisationData';
import { choose, chooseAll, type Given } from '../common/choose';
import { bulkUpsert, type UpsertOptions, type UpsertReport, type UpsertSpec } from '../common/upsert';
import { type Product, products } from './products';

/** Members of a product that an upsert can clear. */
type Clearable = Omit<Product, '_id' | 'sku' | 'name' | 'search' | 'created_at' | 'updated_at'>;

/** A validated product of a bulk call. */
export interface ProductUpsert extends Given<Clearable> {
  readonly sku: string;
  /** Set if the object is new. */
  readonly name?: string;
}

/** Creates and updates products by sku. `currency` is the organisation's, the default for new products. */
export function upsertProducts(
  data: OrganisationData,
  elements: readonly unknown[],
  options: UpsertOptions & { readonly currency: string },
): Promise<UpsertReport> {
  const cleared: Clearable = {
    description: null,
    category: null,
    uom: 'each',
    currency: options.currency,
    unit_price_minor: null,
    vat_exempt: false,
    lead_time_days: null,
    active: true,
  };
  const spec: UpsertSpec<Product, ProductUpsert> = {
    collection: products,
    key: 'sku',
    list: 'products',
    merge: (existing, input) => {
      const members = {
        sku: input.sku,
        // new objects have a name, as validated before
        name: choose(input.name, existing?.name, ''),
        ...chooseAll(input, existing, cleared),
      };
      return { ...members, search: products.words(members) };
    },
  };
  return bulkUpsert(data, spec, elements, options);
}
