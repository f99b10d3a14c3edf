import type { Role } from './roles';
import type { Scope } from './scopes';

/** All states of an organisation, and what each allows: requests of its keys and users, and writes and checks (`doctor`) of its data. */
export const STATES = {
  active: { requests: true, data: true },
  suspended: { requests: false, data: true },
  /** Cannot be resumed. */
  erasing: { requests: false, data: false },
} as const satisfies Record<string, { readonly requests: boolean; readonly data: boolean }>;

export type OrganisationState = keyof typeof STATES;

/** What assistants may do with a key over MCP: nothing, read, or write too. */
export const MCP_ACCESS = ['off', 'read', 'write'] as const;
export type McpAccess = (typeof MCP_ACCESS)[number];
/** For keys that store no choice, because they were created before there was a choice. */
export const DEFAULT_MCP: McpAccess = 'read';

/** The organisation of a request. Each key stores a copy, updated in the same transaction, so that a request needs one read. */
export interface Organisation {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  /** Name of its plan, which the configuration may lack (plans.ts). */
  readonly plan: string;
  /** Default currency of new products (ISO 4217). */
  readonly currency: string;
  readonly state: OrganisationState;
  /** While it is being moved to another shard. */
  readonly moving?: boolean;
  /** For a sandbox, the id of the organisation that it belongs to (docs/decisions/sandboxes.md). */
  readonly sandbox_of?: string;
}

/** Whether a request uses an organisation's own data or its sandbox. */
export type Mode = 'live' | 'test';

export const modeOf = ({ sandbox_of }: Pick<Organisation, 'sandbox_of'>): Mode =>
  sandbox_of === undefined ? 'live' : 'test';

/** A caller that belongs to an organisation. */
export type Principal = KeyPrincipal | UserPrincipal;

/** Any authenticated caller. */
export type Caller = Principal | OperatorPrincipal;

export interface KeyPrincipal {
  readonly kind: 'key';
  readonly organisation: Organisation;
  readonly scopes: ReadonlySet<Scope>;
  readonly key: {
    readonly id: string;
    readonly name: string;
    /** The start of its text that lists show. */
    readonly displayPrefix: string;
    readonly expiresAt: Date | null;
    readonly mcp: McpAccess;
    /** The customers whose data alone it has; undefined for a key that has all. */
    readonly customerIds?: readonly string[] | undefined;
  };
}

interface UserPrincipal {
  readonly kind: 'user';
  readonly organisation: Organisation;
  readonly role: Role;
  readonly user: User;
}

/** An operator of the gateway, through the operator API. */
export interface OperatorPrincipal {
  readonly kind: 'operator';
  /** Name of the token. */
  readonly name: string;
  readonly organisation?: undefined;
}

export interface User {
  /** `oidc:<subject>`, `link:<name>`, `invited:<name>`, or `app:<id>` with a link from one of the operator's applications. */
  readonly id: string;
  readonly name: string;
  /** If the operator's application gave it. */
  readonly email?: string;
}
