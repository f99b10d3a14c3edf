/** Roles of signed-in users in their organisation: the names in the SDL's `Role` enum, weakest first. */
export const ROLES = {
  /** Can view keys, usage, the audit log and, with INSIGHTS=members, figures. */
  MEMBER: 'member',
  /** Can also create, rotate and revoke keys. */
  ADMIN: 'admin',
} as const;

type RoleName = keyof typeof ROLES;
export type Role = (typeof ROLES)[RoleName];

/** The role of operators, as in the SDL's `Role` enum. No user ever has it, whatever an identity provider claims. */
export const OPERATOR = 'operator';
export type NeededRole = Role | typeof OPERATOR;

/** What `@access(role:)` may name. */
export const NEEDED_ROLES: Readonly<Record<string, NeededRole>> = { ...ROLES, OPERATOR };

export const ALL_ROLES: readonly Role[] = Object.values(ROLES);

export function isRole(value: unknown): value is Role {
  return (ALL_ROLES as readonly unknown[]).includes(value);
}

/** Whether a role includes another: an admin can do everything a member can. */
export function includesRole(held: Role, needed: NeededRole): boolean {
  return needed !== OPERATOR && ALL_ROLES.indexOf(held) >= ALL_ROLES.indexOf(needed);
}
