import { type CheckedResource, sentences } from './sentences';
import { type StoredMember, type StoredType, typeOf } from '../storedTypes';

/* Finds indexes of a resource that would not do what its stored type says. */

/** Index members that are not in any type. */
const OWN_MEMBERS = ['_id', 'search'];

/** One message per gap, with what to change where. */
export function indexGaps(stored: StoredType, { name, indexes }: CheckedResource): string[] {
  const { type, unique, members } = stored;
  const indexed = new Set(indexes.flatMap(({ on }) => Object.keys(on)));
  const unknown = [...indexed].filter(
    (member) => !OWN_MEMBERS.includes(member) && typeOf(stored, member) === undefined,
  );
  const held = indexes.filter(({ options }) => options?.unique === true).map(({ on }) => Object.keys(on));
  const member = members.find((one) => one.name === unique);
  return sentences(
    ...unknown.map((one) => `an index of ${name} contains ${one}, but ${type} has no such member`),
    indexed.has('id') && `an index of ${name} contains id, which is stored as _id: write _id`,
    unique !== undefined &&
      !held.some((keys) => keys.join() === unique) &&
      `${type} has @stored(unique: "${unique}"), but no unique index: add { on: { ${unique}: 1 }, options: { unique: true } } to ${name}`,
    ...held
      .filter((keys) => keys.join() !== unique)
      .map((keys) => `a unique index of ${name} has ${keys.join(', ')}, but ${mustBe(stored)}`),
    member &&
      !canBeUnique(member) &&
      `${type} has @stored(unique: "${member.name}"), which must be a single text or number that is never null`,
  );
}

function mustBe({ type, unique }: StoredType): string {
  return unique === undefined
    ? `${type} has no unique member: name one as @stored(unique:), or remove unique`
    : `only ${unique} can be unique, as @stored of ${type} says: remove unique from the index`;
}

function canBeUnique({ kind, isList, isRequired }: StoredMember): boolean {
  return isRequired && !isList && (kind === 'text' || kind === 'number');
}
