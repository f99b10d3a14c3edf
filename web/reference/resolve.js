/**
 * A plugin that replaces Swagger UI's way of resolving what an operation refers to, which reads the whole document again and so
 * blocks the page for up to a second whenever one is opened. The document refers only to its own components, and none to itself.
 */
export const resolvesLocally = () => ({
  fn: {
    resolveSubtree: async (document, path, { baseDoc = location.href } = {}) => ({
      errors: [],
      spec: resolved(at(document, path), { document, baseDoc }),
    }),
  },
});

const at = (part, path) => path.reduce((inner, name) => inner?.[name], part);

/** A part of the document with what it refers to in place, which Swagger UI marks with where it was. */
function resolved(part, source) {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((one) => resolved(one, source));
  const { $ref, ...own } = part;
  if (typeof $ref !== 'string') {
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolved(value, source)]));
  }
  const target = at(source.document, $ref.replace('#/', '').split('/'));
  return { ...resolved(target, source), ...own, $$ref: source.baseDoc + $ref };
}
