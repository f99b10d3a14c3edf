/** Roles of signed-in users in their organisation: the names in the SDL's `Role` enum, weakest first. */
export const ROLES = {
  /** Can view keys, usage and the audit log. */
  MEMBER: 'member',
  /** Can also create, rotate and revoke keys. */
  ADMIN: 'admin',
} as const;

export type RoleName = keyof typeof ROLES;
export type Role = (typeof ROLES)[RoleName];

export const ALL_ROLES: readonly Role[] = Object.values(ROLES);

export function isRole(value: unknown): value is Role {
  return (ALL_ROLES as readonly unknown[]).includes(value);
}

/** Whether a role includes another: an admin can do everything a member can. */
export function includesRole(held: Role, needed: Role): boolean {
  return ALL_ROLES.indexOf(held) >= ALL_ROLES.indexOf(needed);
}
