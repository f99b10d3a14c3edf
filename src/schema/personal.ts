import type { FieldDefinitionNode } from 'graphql';
import { directiveOf, type Sdl } from './sdl';
import {
  EXTERNAL_REF,
  ownerOf,
  referencesTo,
  type StoredMember,
  type StoredType,
  type StoredTypes,
} from './storedTypes';

/* Which stored objects belong to a customer, and which of their members are personal (docs/decisions/organisation-life.md). */

/** The type whose objects are people or businesses (which may consist of one person). */
export const PERSON = 'Customer';

/** Stored objects with data of a customer, and the types of their parts, such as messages of a request. */
export interface OfCustomer {
  readonly stored: StoredType;
  /** The members with the customer's id: `id` for the customer itself. */
  readonly customerMembers: readonly string[];
  readonly parts: readonly StoredType[];
}

/** The stored types with data of a customer: customers themselves, then those that refer to one. */
export function typesOfCustomer(types: StoredTypes): OfCustomer[] {
  const all = [...types.values()];
  const partsOf = (stored: StoredType): StoredType[] => all.filter((part) => ownerOf(part, all) === stored);
  const others = all.filter(({ type }) => type !== PERSON);
  const referring = others.map((stored) => ({
    stored,
    customerMembers: referringMembers(stored),
    parts: partsOf(stored),
  }));
  const person = types.get(PERSON);
  return [
    ...(person ? [{ stored: person, customerMembers: ['id'], parts: partsOf(person) }] : []),
    ...referring.filter(({ customerMembers }) => customerMembers.length > 0),
  ];
}

/** The members with the id of a customer. */
export const referringMembers = (stored: StoredType): string[] => referencesTo(PERSON, stored);

/** The member that says when an object's personal data was erased. */
export const ERASED_AT = 'erased_at';

/** What replaces a string that must not be null. */
export const ERASED = 'erased';

/** The personal members of a stored type, with what replaces them. */
export function erasedMembers(sdl: Sdl, { type, members }: StoredType): Record<string, unknown> {
  const personal = new Set(
    sdl.fieldsOf(type).flatMap((field) => (directiveOf(field, 'personal')?.erased ? [field.name.value] : [])),
  );
  return Object.fromEntries(
    members.filter(({ name }) => personal.has(name)).map((member) => [member.name, erasedAs(member)]),
  );
}

function erasedAs({ isList, isRequired }: StoredMember): unknown {
  if (!isRequired) return null;
  return isList ? [] : ERASED;
}

/** Whether a member can be erased: replaced by null, an empty list or {@link ERASED}, which rows may then have. */
export function canBeErased(
  field: FieldDefinitionNode,
  { name, type, pattern, isList, isRequired }: StoredMember,
): boolean {
  if (isList || !isRequired) return true;
  const { min_length: least = 0, max_length: most = Infinity, one_of: values } = directiveOf(field, 'constraint') ?? {};
  return (
    type === 'String' &&
    // no two rows may have the same
    name !== EXTERNAL_REF &&
    pattern?.test(ERASED) !== false &&
    values?.includes(ERASED) !== false &&
    least <= ERASED.length &&
    ERASED.length <= most
  );
}

/** Whether a member, or one inside it, takes any text. */
export function takesFreeText(sdl: Sdl, field: FieldDefinitionNode, { type, members }: StoredMember): boolean {
  if (members.length > 0) {
    const fields = sdl.fieldsOf(type);
    return members.some((member) => {
      const inner = fields.find(({ name }) => name.value === member.name);
      return inner !== undefined && takesFreeText(sdl, inner, member);
    });
  }
  const { pattern = '', one_of: values } = directiveOf(field, 'constraint') ?? {};
  // a pattern that is not anchored, such as \S, still takes any text around its match
  return type === 'String' && !pattern.startsWith('^') && values === undefined;
}
