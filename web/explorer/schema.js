/* The schema as the explorer shows it. */

/* src/schema/requirements.ts adds these to field descriptions: only signed-in users can use the field, or a key needs one of these scopes. */
const FOR_PEOPLE = /API keys cannot use it\./;
const SCOPES = /Requires (?:the scope|one of the scopes) ((?:`[^`]+`(?:, )?)+)\./;
const LACKS = 'Your key lacks ';

/**
 * An answer to the introspection query without what a key cannot use, and without the types that only that refers to. Fields for which a key
 * with these scopes lacks one say so first; undefined if its scopes are not known.
 */
export function forKeys({ __schema: schema }, scopes) {
  const types = new Map(schema.types.map((type) => [type.name, usableByKeys(type, scopes)]));
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
  const isKept = ({ name }) => reached.has(name) || name.startsWith('__');
  // those that only the schema's own texts have bring types that nobody asks for
  const directives = schema.directives.filter(({ args }) => args.every(({ type }) => reached.has(namedOf(type))));
  return { __schema: { ...schema, directives, types: [...types.values()].filter(isKept) } };
}

function namedOf(type) {
  return type.ofType ? namedOf(type.ofType) : type.name;
}

function usableByKeys(type, scopes) {
  if (!type.fields) return type;
  const fields = type.fields.filter(({ description }) => !FOR_PEOPLE.test(description));
  return { ...type, fields: fields.map((field) => withLack(field, scopes)) };
}

function withLack(field, scopes) {
  const needed = [...(SCOPES.exec(field.description)?.[1].matchAll(/`([^`]+)`/g) ?? [])].map(([, scope]) => scope);
  const lack = lackOf(needed, scopes);
  return lack ? { ...field, description: `**${lack}** ${field.description}` } : field;
}

/** Names the scopes of which the key needs one but has none; undefined if it has one, or if its scopes are unknown. */
export function lackOf(needed, scopes) {
  if (!scopes || needed.length === 0 || needed.some((scope) => scopes.includes(scope))) return undefined;
  return `${LACKS}${needed.join(' or ')}.`;
}

/** Whether the key may use a field with this description. */
export function isOffered(description) {
  return !description?.startsWith(`**${LACKS}`);
}
