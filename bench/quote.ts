/** A line of a quote (contract, section 3). */
export interface Line {
  readonly id: string;
  /** From 0. */
  readonly position: number;
  readonly line_type: 'product' | 'configured' | 'service' | 'manual';
  readonly description: string;
  /** Decimal. */
  readonly qty: number;
  readonly uom: string;
  readonly unit_price_minor: number;
  readonly discount_pct: number;
  readonly vat_exempt: boolean;
  readonly lead_time_days: number | null;
}

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
