import type { DocumentNode, InputValueDefinitionNode } from 'graphql';
import type { Organisation } from '../../auth/principal';
import type { Merge } from '../resolvers';
import { inputFieldsOf } from '../sdl';
import {
  everyMember,
  isNeeded,
  leavesOf,
  type Members,
  NESTED_OWN,
  sampleElement,
  storedSample,
  type Variant,
} from './samples';
import type { StoredMember } from '../storedTypes';
import type { BulkUpsert } from '../upserts';

/*
 * Finds what a merge, which is code, does not do of what the schema says of a bulk upsert: it is tried with elements that differ in one
 * member each.
 */

/** Members that a bulk upsert sets itself, or ignores. */
const OWN: readonly string[] = ['id', 'created_at', 'updated_at'];

const ORGANISATION: Organisation = {
  ...{ id: '00000000-0000-4000-8000-000000000000', name: 'Sample', currency: 'CHF' },
  ...{ plan: 'integrations', cluster: 'sample', state: 'active' },
};

type Row = Readonly<Record<string, unknown>>;

/** One message per gap, with what to change where. */
export function mergeGaps(document: DocumentNode, upsert: BulkUpsert, merge: Merge): string[] {
  const { operation, list, key, stored, element } = upsert;
  const place = `Mutation.${operation}`;
  const isGiven = ({ name: { value: name } }: InputValueDefinitionNode): boolean => !OWN.includes(name);
  const made = (given: object, existing?: object): Row => merge(existing, given, ORGANISATION) as Row;
  const full = (flipped?: string): object =>
    sampleElement(document, element, { has: everyMember, variantOf: (path) => (path === flipped ? 1 : 0) });
  const some = (has: Members): object => sampleElement(document, element, { has, variantOf: () => 0 });

  /** Members whose value leaves no trace in what is stored. */
  function unstored(): string[] {
    const base = made(full());
    const leaves = leavesOf(document, element).filter(({ path, top }) => path !== key && !OWN.includes(top));
    return leaves
      .filter(({ path, top }) => textOf(made(full(path))[top]) === textOf(base[top]))
      .map((leaf) => `${leaf.place} is not stored by ${place}: set it in the merge of ${list}`);
  }

  /** Members that would be null and must not be, with as little as an element may have. */
  function unset(): string[] {
    const least = some((member) => isNeeded(member));
    const cleared = inputFieldsOf(document, element).filter((member) => isGiven(member) && !isNeeded(member));
    const nulls = { ...least, ...Object.fromEntries(cleared.map(({ name }) => [name.value, null])) };
    const shallow = some((member, depth) => depth === 0 || isNeeded(member));
    const found = [least, nulls, shallow].flatMap((given) => missing(made(given), stored.type, stored.members, OWN));
    return [...new Set(found)].map(
      (member) =>
        `${place} could store null as ${member}: require it in the input (@constraint(required: true)), or give it a value in the merge of ${list}`,
    );
  }

  /** Members that change although an element leaves them out. */
  function unkept(): string[] {
    const least = some((member) => member.name.value === key);
    const kept = stored.members.filter(({ name }) => name !== key && !OWN.includes(name));
    const lost = ([0, 1] as const).flatMap((variant: Variant) => {
      const existing = storedSample(document, stored.members, variant) as Row;
      const after = made(least, { _id: existing.id, ...existing });
      return kept.filter(({ name }) => JSON.stringify(after[name]) !== JSON.stringify(existing[name]));
    });
    return [...new Set(lost)].map(
      ({ name }) =>
        `${stored.type}.${name} is lost when ${place} changes another member: keep that of the existing object in the merge of ${list}`,
    );
  }

  try {
    return [...unstored(), ...unset(), ...unkept()];
  } catch (error) {
    return [`${place} fails with a valid element: the merge of ${list} throws ${String(error)}`];
  }
}

/** What is stored, without the ids that each run makes. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (name, inner: unknown) => (NESTED_OWN.includes(name) ? undefined : inner));
}

/** The places of members that are null and must not be. */
function missing(row: Row, type: string, members: readonly StoredMember[], except: readonly string[] = []): string[] {
  return members.flatMap(({ name, isRequired, type: inner, members: others }) => {
    const value = row[name];
    if (except.includes(name)) return [];
    if (value === null || value === undefined) return isRequired ? [`${type}.${name}`] : [];
    const objects = others.length === 0 ? [] : [value].flat();
    return objects.flatMap((one) => missing(one as Row, inner, others));
  });
}
