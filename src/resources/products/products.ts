import { defineResource } from '../../stored/resource';

export interface Product {
  readonly _id: string;
  readonly sku: string;
  readonly name: string;
  readonly description: string | null;
  readonly category: string | null;
  readonly uom: string;
  readonly currency: string;
  /** Minor units; null if on request. */
  readonly unit_price_minor: number | null;
  readonly vat_exempt: boolean;
  /** Days. */
  readonly lead_time_days: number | null;
  readonly active: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly search: readonly string[];
}

export const products = defineResource<Product>({
  type: 'Product',
  indexes: [
    { on: { sku: 1 }, options: { unique: true } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { name: 1, _id: 1 } },
    { on: { category: 1, created_at: -1, _id: -1 } },
    { on: { active: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
});
