// The product's own data, in its own shape.
import mongoose from 'mongoose';

const { Decimal128, ObjectId } = mongoose.Schema.Types;
const define = (name, members) => mongoose.model(name, new mongoose.Schema(members, { timestamps: true }));

export const Account = define('Account', { name: { type: String, required: true } });

export const Client = define('Client', { account: ObjectId, name: String, mail: String });

export const Quotation = define('Quotation', {
  account: ObjectId,
  client: ObjectId,
  reference: { type: String, unique: true },
  state: { type: String, enum: ['editing', 'offered', 'won', 'lost', 'lapsed'], default: 'editing' },
  items: [{ _id: false, text: String, count: Number, price: Decimal128 }],
  vat: { type: Decimal128, default: '0' },
  offeredAt: Date,
  closedAt: Date,
  // midnight where the account is
  validUntil: Date,
});

/** What customers' own software did through the API. */
export const Notice = define('Notice', { _id: String, account: ObjectId, type: String, object: Object });
