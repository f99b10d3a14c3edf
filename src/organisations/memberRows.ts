import { Schema } from 'mongoose';
import type { User } from '../auth/principal';
import type { Role } from '../auth/roles';
import { defineCollection } from '../database/collection';

/** Who has signed in to an organisation; the last sign-in counts. */
export interface MemberRow {
  /** `<organisation id>:<user id>` */
  readonly _id: string;
  readonly organisation_id: string;
  readonly user: User;
  readonly role: Role;
  readonly last_sign_in_at: Date;
  /** Network address. */
  readonly from: string;
}

const text = { type: String, required: true } as const;

export const memberRows = defineCollection<MemberRow>(
  'members',
  {
    _id: text,
    organisation_id: text,
    user: { type: new Schema({ id: text, name: text }, { _id: false }), required: true },
    role: text,
    last_sign_in_at: { type: Date, required: true },
    from: text,
  },
  [{ on: { organisation_id: 1, last_sign_in_at: -1, _id: -1 } }],
);
