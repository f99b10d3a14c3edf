import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { PageShape } from './answerWriter';
import type { Shape, Value, WantedMember } from './rowWriter';
import { isStoredId, keysOfMetadata, mayBeAbsent, memberOf, patternOfField } from '../operations/build';
import type { Field, Selected } from '../operations/selection';

/* What to write of rows (their shape), from a selection and the types of its fields; undefined if the value of any field is not stored. */

/** How values of scalars are written: the same way as `serialize` of the scalar writes stored values. */
const KINDS: Readonly<Record<string, Value['kind']>> = {
  ID: 'string',
  String: 'string',
  Date: 'date',
  DateTime: 'dateTime',
  Minor: 'minor',
  Int: 'int',
  Float: 'float',
  Boolean: 'boolean',
};

export function pageShape(selected: readonly Selected[]): PageShape | undefined {
  const parts: PageShape['parts'][number][] = [];
  let row: Shape | undefined;
  for (const { key, field, type, selected: inner } of selected) {
    const from = field ? field.name : { constant: type.name };
    if (from !== 'data' && from !== 'has_more' && from !== 'next_cursor' && typeof from === 'string') return undefined;
    parts.push({ key, from });
    if (!field || from !== 'data') continue;
    // two aliases of the rows would need two shapes
    const rowType = getNamedType(field.type);
    if (row || !isObjectType(rowType)) return undefined;
    row = shapeOf(rowType, inner);
    if (!row) return undefined;
  }
  return row && { parts, row };
}

export function shapeOf(type: GraphQLObjectType, selected: readonly Selected[]): Shape | undefined {
  const wanted: WantedMember[] = [];
  for (const selection of selected) {
    const part = wantedOf(selection);
    if (!part) return undefined;
    wanted.push(part);
  }
  // rows have the members of all fields, not just of those selected
  const others = Object.values(type.getFields()).flatMap((field) => memberOf(field) ?? []);
  return { wanted, others: ['_id', ...others] };
}

const ID: Value = { kind: 'id', isRequired: true };

function wantedOf({ key, field, type, selected }: Selected): WantedMember | undefined {
  if (!field) return { key, from: { constant: type.name } };
  const member = memberOf(field);
  if (member === undefined) return undefined;
  const value = isStoredId(type, member) ? ID : valueOf(field, selected);
  return value && { key, from: { member, value } };
}

function valueOf(field: Field, selected: readonly Selected[]): Value | undefined {
  const { type: outer } = field;
  const pattern = keysOfMetadata(field);
  const mayLack = mayBeAbsent(field);
  const isRequired = isNonNullType(outer) && !mayLack;
  const type = getNullableType(outer);
  if (pattern && !isListType(type)) return { kind: 'metadata', isRequired, absent: '{}', pattern };
  if (isListType(type)) {
    const item = getNullableType(type.ofType);
    const shape = isNonNullType(type.ofType) && isObjectType(item) ? shapeOf(item, selected) : undefined;
    return shape && { kind: 'objects', isRequired, shape, ...(mayLack && { absent: '[]', pattern }) };
  }
  if (isObjectType(type)) {
    const shape = shapeOf(type, selected);
    return shape && { kind: 'object', isRequired, shape };
  }
  if (isEnumType(type)) {
    const values = type.getValues();
    // values that differ from their names would have to be translated
    if (values.some(({ name, value }) => name !== value)) return undefined;
    return { kind: 'enum', isRequired, values: values.map(({ name }) => name) };
  }
  const kind = 'name' in type ? KINDS[type.name] : undefined;
  return kind && { kind, isRequired, ...(kind === 'string' && { pattern: patternOfField(field) }) };
}
