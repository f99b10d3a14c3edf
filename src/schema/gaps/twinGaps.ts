import { type DocumentNode, type FieldDefinitionNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { boundGaps } from './bounds';
import { IF_MATCH } from '../entityTags';
import type { ResolverTable } from '../resolvers';
import { itemName, omittedFrom } from '../restDocument';
import {
  allFieldNodes,
  directiveOf,
  fieldsOf,
  inputFieldsOf,
  isInputObject,
  isListType,
  namedType,
  rootFieldNodes,
} from '../sdl';
import { sentences } from './sentences';
import { type StoredType, storedTypes } from '../storedTypes';
import { upsertGaps } from './upsertGaps';
import { upsertsOf } from '../upserts';
import { writeGaps } from './writeGaps';

/* Finds types and arguments that go with a stored type, by their names or by what they are for, and contradict it. */

/** One message per gap, with what to change where. */
export function twinGaps(document: DocumentNode, resolvers: ResolverTable): string[] {
  const types = storedTypes(document);
  const ofUpserts = upsertsOf(document).map((upsert) => {
    const ofInput = inputGaps(document, upsert.element, upsert.stored.type, namesOf(upsert.stored));
    return { upsert, ofInput };
  });
  const all = [
    ...ofUpserts.flatMap(({ ofInput }) => ofInput),
    // a merge is only tried with elements that it can store
    ...upsertGaps(
      document,
      ofUpserts.map(({ upsert, ofInput }) => ({ ...upsert, isTried: ofInput.length === 0 })),
      resolvers,
    ),
    ...rootFieldNodes(document).flatMap(({ kind, field }) => {
      const stored = kind === 'Mutation' ? types.get(namedType(field.type)) : undefined;
      return stored ? argumentGaps(document, field, stored) : [];
    }),
    ...writeGaps(document, types),
    ...itemGaps(document),
  ];
  // types inside several inputs have their gaps once
  return [...new Set(all)];
}

function namesOf({ members }: StoredType): ReadonlySet<string> {
  return new Set(members.map(({ name }) => name));
}

/** Gaps of an input beside the type that its values are stored as; `names` are the members of the type, by default all its fields. */
function inputGaps(document: DocumentNode, input: string, type: string, names?: ReadonlySet<string>): string[] {
  const fields = fieldsOf(document, type).filter(({ name }) => names?.has(name.value) ?? true);
  return inputFieldsOf(document, input).flatMap((member) => {
    const { value: name } = member.name;
    const field = fields.find((one) => one.name.value === name);
    const place = `${input}.${name}`;
    if (!field) return [`${place} is no member of ${type}, so it would be lost: add it there, or remove it`];
    return memberGaps(document, { place, member, type, field });
  });
}

interface Member {
  readonly place: string;
  readonly member: InputValueDefinitionNode;
  /** The stored member of the same name, and its type. */
  readonly type: string;
  readonly field: FieldDefinitionNode;
  /** Whether code may replace a value below a lower bound by another. */
  readonly isAmended?: boolean;
}

function memberGaps(document: DocumentNode, { place, member, type, field, isAmended = false }: Member): string[] {
  const other = `${type}.${field.name.value}`;
  const [given, wanted] = [namedType(member.type), namedType(field.type)];
  const isObject = fieldsOf(document, wanted).length > 0;
  const isInput = isInputObject(document, given);
  const isSame = isListType(member.type) === isListType(field.type) && (isObject ? isInput : given === wanted);
  if (!isSame) return [`${place} is ${print(member.type)}, but ${other} is ${print(field.type)}: use the same type`];
  return [
    ...boundGaps(place, directiveOf(member, 'constraint'), other, directiveOf(field, 'constraint'), { isAmended }),
    ...(isObject ? inputGaps(document, given, wanted) : []),
  ];
}

/** Gaps of the arguments of a write that returns a stored object; those of PATCH and PUT are its members. */
function argumentGaps(document: DocumentNode, field: FieldDefinitionNode, stored: StoredType): string[] {
  const { method = '', path = '' } = directiveOf(field, 'rest') ?? {};
  const isChange = method === 'PATCH' || method === 'PUT';
  const inPath = path.split('/');
  const fields = fieldsOf(document, stored.type);
  const given = (field.arguments ?? []).filter(
    ({ name }) => name.value !== IF_MATCH && !inPath.includes(`:${name.value}`),
  );
  return given.flatMap((argument) => {
    const { value: name } = argument.name;
    const place = `Mutation.${field.name.value}(${name}:)`;
    const member = namesOf(stored).has(name) ? fields.find((one) => one.name.value === name) : undefined;
    if (!member) {
      const isLost = `${place} is no member of ${stored.type}, which a ${method} sets: add it there, or use POST`;
      return isChange ? [isLost] : [];
    }
    return [
      ...memberGaps(document, { place, member: argument, type: stored.type, field: member, isAmended: !isChange }),
      ...(isChange ? nullGaps(argument, member, method, stored.type).map((gap) => `${place} ${gap}`) : []),
    ];
  });
}

function nullGaps(
  argument: InputValueDefinitionNode,
  { name, type }: FieldDefinitionNode,
  method: string,
  stored: string,
): string[] {
  const { required = false, not_null: notNull = false } = directiveOf(argument, 'constraint') ?? {};
  const isRequired = argument.type.kind === Kind.NON_NULL_TYPE;
  return sentences(
    method === 'PATCH' &&
      (isRequired || required) &&
      'is required, but a PATCH takes only what changes: make it nullable, with @constraint(not_null: true) if null is no value',
    !isRequired &&
      !required &&
      !notNull &&
      type.kind === Kind.NON_NULL_TYPE &&
      `takes null, but ${stored}.${name.value} is never null: add @constraint(not_null: true)`,
  );
}

/** Finds types with the name that REST gives to rows of lists that lack a field. */
function itemGaps(document: DocumentNode): string[] {
  const owners = new Set(
    allFieldNodes(document).flatMap(({ type, field }) => (omittedFrom(field) === 'LISTS' ? [type] : [])),
  );
  const defined = new Set(document.definitions.map((node) => ('name' in node ? node.name.value : undefined)));
  return [...owners].flatMap((owner) =>
    sentences(
      defined.has(itemName(owner)) &&
        `${itemName(owner)} has the name that rows of lists of ${owner} have on REST: rename it`,
    ),
  );
}
