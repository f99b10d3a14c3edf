import { getNullableType, type GraphQLOutputType, isListType, isObjectType } from 'graphql';
import { omittedFrom } from './restDocument';

/** A stored value as REST returns it: its own members, without resolvers. Ids are `_id` in the database and `id` in files. */
export function represent(outer: GraphQLOutputType, value: unknown): unknown {
  const type = getNullableType(outer);
  if (value === null || value === undefined) return null;
  if (isListType(type)) return (value as unknown[]).map((item) => represent(type.ofType, item));
  if (!isObjectType(type)) return 'serialize' in type ? type.serialize(value) : value;
  const { _id, ...members } = value as Readonly<Record<string, unknown>>;
  const row: Readonly<Record<string, unknown>> = { ...(_id !== undefined && { id: _id }), ...members };
  const fields = Object.values(type.getFields()).filter(
    ({ astNode }) => !astNode || [undefined, 'LISTS'].includes(omittedFrom(astNode)),
  );
  return Object.fromEntries(fields.map((field) => [field.name, represent(field.type, row[field.name])]));
}
