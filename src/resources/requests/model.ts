import { Schema } from 'mongoose';
import { defineCollection } from '../../database/collection';
import { date, number, optionalText, search, text } from '../common/shape';

/** A request thread as its organisation's database keeps it. */
export interface RequestThread {
  readonly _id: string;
  readonly subject: string;
  readonly status: 'open' | 'answered' | 'closed';
  readonly customer_id: string | null;
  readonly contact: { readonly name: string; readonly email: string | null; readonly phone: string | null } | null;
  readonly message_count: number;
  readonly last_message_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly search: readonly string[];
}

/** A message of a thread. */
export interface Message {
  readonly _id: string;
  readonly request_id: string;
  readonly author: 'customer' | 'organisation';
  readonly author_name: string | null;
  readonly body: string;
  readonly created_at: Date;
}

const contact = new Schema({ name: text, email: optionalText, phone: optionalText }, { _id: false });

export const requests = defineCollection<RequestThread>(
  'requests',
  {
    _id: text,
    subject: text,
    status: text,
    customer_id: optionalText,
    contact: { type: contact, default: null },
    message_count: number,
    last_message_at: date,
    created_at: date,
    updated_at: date,
    search,
  },
  [
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
);

export const messages = defineCollection<Message>(
  'messages',
  { _id: text, request_id: text, author: text, author_name: optionalText, body: text, created_at: date },
  [{ on: { request_id: 1, created_at: 1, _id: 1 } }],
);
