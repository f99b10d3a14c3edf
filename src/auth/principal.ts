import type { McpAccess } from './mcpAccess';
import type { Plan } from './plans';
import type { Role } from './roles';
import type { Scope } from './scopes';
import type { OrganisationState } from './states';

/** The organisation of a request. Each key has a copy, updated in the same transaction, so that a request needs one read. */
export interface Organisation {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Default currency of new products (ISO 4217). */
  readonly currency: string;
  /** The cluster that holds its database. */
  readonly cluster: string;
  readonly state: OrganisationState;
}

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
    readonly mcp: McpAccess;
  };
}

export interface UserPrincipal {
  readonly kind: 'user';
  readonly organisation: Organisation;
  readonly role: Role;
  readonly user: User;
}

export interface User {
  /** `oidc:<subject>` or `link:<name>`. */
  readonly id: string;
  readonly name: string;
}
