/* The schemas of the OpenAPI documents that are no types of the SDL, so that no type may have their names (checks/names.ts). */

/** Those of errors. */
export const ERROR_SCHEMAS = ['Problem', 'Fault'] as const;

/** The rows of lists that omit a field of a type. */
export const itemName = (type: string): string => `${type}Item`;

/** The answer to a change, in which a key that may not read has only what it sent. */
export const changedName = (type: string): string => `Changed${type}`;

/** The parts of an operator's write of a stored type: its put, its patch, its delete (Name) and the whole (Write); of objects in its lists there is Write alone. */
export const writeName = (type: string, what: 'Put' | 'Patch' | 'Name' | 'Write'): string => type + what;

/** The body of a route: ProductsBulkBody, or PatchQuotesIdBody if it is not posted. */
export function bodyName({ method, path }: { readonly method: string; readonly path: string }): string {
  const words = [...(method === 'POST' ? [] : [method.toLowerCase()]), ...path.split(/[^A-Za-z\d]+/)];
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Body`;
}
