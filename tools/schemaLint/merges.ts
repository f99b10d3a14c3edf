import type { InputValueDefinitionNode } from 'graphql';
import type { Organisation } from '../../src/auth/principal';
import { errorsAt, type SchemaError } from '../../src/schema/checks/errors';
import { ERASED_AT } from '../../src/schema/personal';
import type { Sdl } from '../../src/schema/sdl';
import type { StoredMember } from '../../src/schema/storedTypes';
import type { BulkUpsert, Merge } from '../../src/schema/upserts';
import type { Rules } from './model';
import { changedElements, isNeeded, NESTED_OWN, sampleElement, storedSample } from './samples';

/* Tries the merges of bulk upserts, which are code, with elements that differ in one member. */

export const MERGES: Rules = {
  merge: {
    schema: ({ sdl, resolvers }) =>
      sdl.upserts.flatMap((upsert) => {
        const merge = resolvers.Mutation?.[upsert.operation]?.merge;
        return merge ? mergeErrors(sdl, upsert, merge) : [];
      }),
  },
};

/** Members that a bulk upsert sets itself, or ignores. */
const OWN: readonly string[] = ['id', ERASED_AT, 'created_at', 'updated_at'];

const ORGANISATION: Organisation = {
  ...{ id: '00000000-0000-4000-8000-000000000000', name: 'Sample', currency: 'CHF' },
  ...{ plan: 'integrations', cluster: 'sample', state: 'active' },
};

type Row = Readonly<Record<string, unknown>>;

function mergeErrors(sdl: Sdl, upsert: BulkUpsert, merge: Merge): SchemaError[] {
  const { operation, list, key, stored, element } = upsert;
  const place = `Mutation.${operation}`;
  const node = sdl.rootField(operation);
  const isGiven = ({ name: { value: name } }: InputValueDefinitionNode): boolean => !OWN.includes(name);
  const made = (given: object, existing?: object): Row => merge(existing, given, ORGANISATION) as Row;

  /** Members whose value leaves no trace in what is stored. */
  function unstored(): string[] {
    const full = sampleElement(sdl, element, () => true);
    const base = made(full);
    const changed = changedElements(sdl, element, full).filter(({ top }) => top !== key && !OWN.includes(top));
    return changed
      .filter((one) => textOf(made(one.element)[one.top]) === textOf(base[one.top]))
      .map((one) => `${one.place} is not stored by ${place}: set it in the merge of ${list}`);
  }

  /** Members that would be null but must not be, if an element has only the members that it needs. */
  function unset(): string[] {
    const least = sampleElement(sdl, element, isNeeded);
    const cleared = sdl.inputFieldsOf(element).filter((member) => isGiven(member) && !isNeeded(member));
    const nulls = { ...least, ...Object.fromEntries(cleared.map(({ name }) => [name.value, null])) };
    const shallow = sampleElement(sdl, element, (member, depth) => depth === 0 || isNeeded(member));
    const found = [least, nulls, shallow].flatMap((given) => missing(made(given), stored.type, stored.members, OWN));
    return found.map(
      (member) =>
        `${place} could store null as ${member}: require it in the input (@constraint(required: true)), or give it a value in the merge of ${list}`,
    );
  }

  /** Members that change although an element leaves them out. */
  function unkept(): string[] {
    const least = sampleElement(sdl, element, ({ name }) => name.value === key);
    const kept = stored.members.filter(({ name }) => name !== key && !OWN.includes(name));
    const lost = ([0, 1] as const).flatMap((variant) => {
      const existing = storedSample(sdl, stored.members, variant);
      const after = made(least, { _id: existing.id, ...existing });
      return kept.filter(({ name }) => JSON.stringify(after[name]) !== JSON.stringify(existing[name]));
    });
    return lost.map(
      ({ name }) =>
        `${stored.type}.${name} is lost when ${place} changes another member: keep that of the existing object in the merge of ${list}`,
    );
  }

  try {
    return errorsAt(node, ...new Set([...unstored(), ...unset(), ...unkept()]));
  } catch (error) {
    return errorsAt(node, `${place} fails with a valid element: the merge of ${list} throws ${String(error)}`);
  }
}

/** A stored value as JSON, without ids, which are new in each run. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (name, inner: unknown) => (NESTED_OWN.includes(name) ? undefined : inner));
}

/** The places of members that are null but must not be. */
function missing(row: Row, type: string, members: readonly StoredMember[], except: readonly string[] = []): string[] {
  return members.flatMap(({ name, isRequired, type: inner, members: others }) => {
    const value = row[name];
    if (except.includes(name)) return [];
    if (value === null || value === undefined) return isRequired ? [`${type}.${name}`] : [];
    const objects = others.length === 0 ? [] : [value].flat();
    return objects.flatMap((one) => missing(one as Row, inner, others));
  });
}
