import type { McpAccess } from './mcpAccess';
import { type Plan, PLANS } from './plans';
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
  /** Of a sandbox: the id of the organisation that it belongs to (docs/decisions/sandboxes.md). */
  readonly sandbox_of?: string;
}

/** Whether what is read and written are the organisation's own data, or those of its sandbox. */
export type Mode = 'live' | 'test';

export const modeOf = ({ sandbox_of }: Pick<Organisation, 'sandbox_of'>): Mode =>
  sandbox_of === undefined ? 'live' : 'test';

/** Whether its keys and webhooks work: a sandbox's do on every plan. */
export const hasApiAccess = (organisation: Pick<Organisation, 'plan' | 'sandbox_of'>): boolean =>
  PLANS[organisation.plan].integrations || modeOf(organisation) === 'test';

/** Whoever acts for an organisation. */
export type Principal = KeyPrincipal | UserPrincipal;

/** Whoever calls. */
export type Caller = Principal | OperatorPrincipal;

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

/** Who runs the gateway, over its API. */
export interface OperatorPrincipal {
  readonly kind: 'operator';
  /** Name of the token. */
  readonly name: string;
  readonly organisation?: undefined;
}

export interface User {
  /** `oidc:<subject>`, `link:<name>`, or `app:<id>` with a link of an application of the operator. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
}
