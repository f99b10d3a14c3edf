/* The schema as the explorer shows it. */

/** In the description of a field that only signed-in users can use (src/schema/requirements.ts). */
const FOR_PEOPLE = /API keys cannot use it\./;

/** An answer to the introspection query without what a key cannot use, and without the types that only that refers to. */
export function forKeys({ __schema: schema }) {
  const types = new Map(schema.types.map((type) => [type.name, usableByKeys(type)]));
  const reached = new Set();
  const reach = (reference) => {
    if (!reference) return;
    reach(reference.ofType);
    const type = types.get(reference.name);
    if (!type || reached.has(type.name)) return;
    reached.add(type.name);
    const members = [...(type.fields ?? []), ...(type.inputFields ?? [])];
    for (const member of members) for (const one of [member, ...(member.args ?? [])]) reach(one.type);
    for (const other of [...(type.interfaces ?? []), ...(type.possibleTypes ?? [])]) reach(other);
  };
  for (const root of [schema.queryType, schema.mutationType, schema.subscriptionType]) reach(root);
  for (const { args } of schema.directives) for (const { type } of args) reach(type);
  const isKept = ({ name }) => reached.has(name) || name.startsWith('__');
  return { __schema: { ...schema, types: [...types.values()].filter(isKept) } };
}

function usableByKeys(type) {
  return type.fields
    ? { ...type, fields: type.fields.filter(({ description }) => !FOR_PEOPLE.test(description)) }
    : type;
}
