import type { OrganisationData } from '../../database/organisationData';
import { choose } from '../common/choose';
import { bulkUpsert, type UpsertOptions, type UpsertReport, type UpsertSpec } from '../common/upsert';
import { type Product, products } from './products';

/** A validated product of a bulk call: omitted members are unchanged, null clears them. */
export interface ProductUpsert {
  readonly sku: string;
  /** Set if the object is new. */
  readonly name?: string;
  readonly description?: string | null;
  readonly category?: string | null;
  readonly uom?: string | null;
  readonly currency?: string | null;
  readonly unit_price_minor?: number | null;
  readonly vat_exempt?: boolean | null;
  readonly lead_time_days?: number | null;
  readonly active?: boolean | null;
}

/** Creates and updates products by sku. `currency` is the organisation's, the default for new products. */
export function upsertProducts(
  data: OrganisationData,
  elements: readonly unknown[],
  options: UpsertOptions & { readonly currency: string },
): Promise<UpsertReport> {
  const cleared = {
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
        description: choose(input.description, existing?.description, cleared.description),
        category: choose(input.category, existing?.category, cleared.category),
        uom: choose(input.uom, existing?.uom, cleared.uom),
        currency: choose(input.currency, existing?.currency, cleared.currency),
        unit_price_minor: choose(input.unit_price_minor, existing?.unit_price_minor, cleared.unit_price_minor),
        vat_exempt: choose(input.vat_exempt, existing?.vat_exempt, cleared.vat_exempt),
        lead_time_days: choose(input.lead_time_days, existing?.lead_time_days, cleared.lead_time_days),
        active: choose(input.active, existing?.active, cleared.active),
      };
      return { ...members, search: products.words(members) };
    },
  };
  return bulkUpsert(data, spec, elements, options);
}
