/** The HTTP methods of REST operations, with their root type and whether they have a body. */
export const METHODS = {
  GET: { root: 'Query', hasBody: false },
  POST: { root: 'Mutation', hasBody: true },
  PUT: { root: 'Mutation', hasBody: true },
  PATCH: { root: 'Mutation', hasBody: true },
  DELETE: { root: 'Mutation', hasBody: false },
} as const;

export type Method = keyof typeof METHODS;

export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}
