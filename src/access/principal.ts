import type { Plan } from './plans';
import type { Role } from './roles';
import type { Scope } from './scopes';

/** The organisation a request acts in. A copy sits on each key, changed with it in one transaction, so that a request reads once. */
export interface Organisation {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Currency of new products that name none (ISO 4217). */
  readonly currency: string;
  /** The cluster that holds its database. */
  readonly cluster: string;
}

/** Whoever a request acts for. */
export type Principal = KeyPrincipal | UserPrincipal;

export interface KeyPrincipal {
  readonly kind: 'key';
  readonly organisation: Organisation;
  readonly scopes: ReadonlySet<Scope>;
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly prefix: string;
    readonly expiresAt: Date | null;
  };
}

/** Someone who is signed in on the settings page. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly organisation: Organisation;
  readonly role: Role;
  readonly user: User;
}

export interface User {
  /** As `oidc:<subject>` or `link:<name>`. */
  readonly id: string;
  /** What to call them. */
  readonly name: string;
}
