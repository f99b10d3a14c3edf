// The product's documents in the form of the API.

const TIME_ZONE = 'Europe/Paris';
const CURRENCY = 'EUR';
/** Our states; what is still being edited is not shown. */
const STATUSES = { offered: 'sent', won: 'accepted', lost: 'declined', lapsed: 'expired' };

/** A Decimal128 in cents, exactly. Number(…) * 100 would make 1.15 114.99999999999999. */
export function toMinor(amount) {
  const [, sign, whole, cents = ''] = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/.exec(String(amount)) ?? [];
  const minor = Number(sign + whole + cents.padEnd(2, '0'));
  if (!Number.isSafeInteger(minor)) throw new RangeError(`${amount} is not an amount in cents`);
  // not -0
  return minor + 0;
}

/** The day that a time is on where the account is: midnight in Paris is the day before in UTC. */
const dayOf = (time) => new Intl.DateTimeFormat('sv-SE', { timeZone: TIME_ZONE }).format(time);

function quoteOf({ reference, client, state, items = [], vat, offeredAt, closedAt, validUntil, createdAt }) {
  const status = STATUSES[state];
  if (!status) return null;
  const lines = items.map(({ text, count, price }) => ({
    ...{ line_type: 'manual', description: text, qty: count, uom: 'each' },
    ...{ unit_price_minor: toMinor(price), discount_pct: 0, vat_exempt: false },
  }));
  const subtotal = lines.reduce((sum, line) => sum + Math.round(line.qty * line.unit_price_minor), 0);
  return {
    ...{ number: reference, status, currency: CURRENCY, lines },
    ...{ subtotal_minor: subtotal, discount_minor: 0, vat_minor: toMinor(vat), total_minor: subtotal + toMinor(vat) },
    // references are by external_ref, which is the _id as text
    customer_ref: client ? String(client) : null,
    valid_until: validUntil ? dayOf(validUntil) : null,
    // JSON has them in UTC, as the API wants them
    ...{ sent_at: offeredAt, created_at: createdAt },
    decided_at: state === 'won' || state === 'lost' ? closedAt : null,
  };
}

const organisation = ({ account }) => account;

/** Clients first, since quotations refer to them. */
export const sources = [
  { collection: 'clients', type: 'customer', organisation, map: ({ name, mail }) => ({ name, email: mail ?? null }) },
  { collection: 'quotations', type: 'quote', organisation, map: quoteOf },
];
