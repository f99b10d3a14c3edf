/** The methods that an operation can have on REST: of which root type it is, and whether a body comes with it. */
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
