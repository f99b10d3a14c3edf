import { defineResource } from '../../stored/resource';

export interface RequestThread {
  readonly _id: string;
  readonly subject: string;
  readonly status: 'open' | 'answered' | 'closed';
  readonly customer_id: string | null;
  readonly external_ref: string | null;
  readonly contact: { readonly name: string; readonly email: string | null; readonly phone: string | null } | null;
  readonly message_count: number;
  readonly last_message_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly search: readonly string[];
}

export interface Message {
  readonly _id: string;
  readonly request_id: string;
  readonly author: 'customer' | 'organisation';
  readonly author_name: string | null;
  readonly body: string;
  readonly created_at: Date;
}

export const requests = defineResource<RequestThread>({
  type: 'Request',
  indexes: [
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
    // threads without an external_ref are not compared
    { on: { external_ref: 1 }, options: { unique: true, partialFilterExpression: { external_ref: { $gt: '' } } } },
  ],
  isPartOfRecord: true,
});

export const messages = defineResource<Message>({
  type: 'Message',
  indexes: [{ on: { request_id: 1, created_at: 1, _id: 1 } }],
  isPartOfRecord: true,
});
