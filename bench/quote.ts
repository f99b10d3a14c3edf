import type { Line } from '../src/stored/lines';

/** A quote as stored in its organisation's database. Amounts are in minor units. */
export interface Quote {
  readonly _id: string;
  readonly number: string;
  readonly external_ref: string | null;
  readonly status: 'draft' | 'sent' | 'accepted' | 'declined' | 'expired' | 'withdrawn';
  readonly currency: string;
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly total_minor: number;
  /** YYYY-MM-DD. */
  readonly valid_until: string | null;
  readonly customer_id: string | null;
  readonly sent_at: Date | null;
  readonly decided_at: Date | null;
  readonly metadata: readonly { readonly key: string; readonly value: string }[];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly lines: readonly Line[];
  readonly search: readonly string[];
}
