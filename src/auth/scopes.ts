/** All scopes: their names in the SDL's `Scope` enum, and their form in keys and errors. */
export const SCOPES = {
  PRODUCTS_READ: 'products:read',
  PRODUCTS_WRITE: 'products:write',
  QUOTES_READ: 'quotes:read',
  QUOTES_WRITE: 'quotes:write',
  ORDERS_READ: 'orders:read',
  CUSTOMERS_READ: 'customers:read',
  CUSTOMERS_WRITE: 'customers:write',
  REQUESTS_READ: 'requests:read',
  REQUESTS_WRITE: 'requests:write',
} as const;

export type ScopeName = keyof typeof SCOPES;
export type Scope = (typeof SCOPES)[ScopeName];

export const ALL_SCOPES: readonly Scope[] = Object.values(SCOPES);

/** Those that an operation uses; the others are not offered. */
export const USED_SCOPES = ALL_SCOPES.filter((scope) => scope !== SCOPES.QUOTES_WRITE);

export function isScope(value: string): value is Scope {
  return (ALL_SCOPES as readonly string[]).includes(value);
}
