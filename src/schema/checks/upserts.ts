import type { FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import type { Organisation } from '../../auth/principal';
import { IF_MATCH } from '../entityTags';
import { ERASED_AT } from '../personal';
import type { Merge } from '../resolvers';
import { directiveOf, namedType, type Sdl } from '../sdl';
import type { StoredMember, StoredType } from '../storedTypes';
import type { BulkUpsert } from '../upserts';
import { type Checked, errorsAt, type SchemaError } from './errors';
import { changedElements, isNeeded, NESTED_OWN, sampleElement, storedSample } from './samples';

/* Finds writes that would lose what callers send, or what is stored. */

export function upsertErrors({ sdl, resolvers }: Checked): SchemaError[] {
  const ofUpserts = sdl.upserts.flatMap((upsert) => {
    const ofInput = inputErrors(sdl, upsert.element, upsert.stored.type, upsert.stored.members);
    const merge = resolvers.Mutation?.[upsert.operation]?.merge;
    // a merge is only tried with elements that it can store
    return ofInput.length > 0 || !merge ? ofInput : mergeErrors(sdl, upsert, merge);
  });
  const ofChanges = sdl.roots.flatMap(({ kind, field }) => {
    const stored = kind === 'Mutation' ? sdl.stored.get(namedType(field.type)) : undefined;
    return stored ? argumentErrors(sdl, field, stored) : [];
  });
  return [...ofUpserts, ...ofChanges];
}

/** Finds members of an input beside the type that its values are stored as. */
function inputErrors(sdl: Sdl, input: string, type: string, members: readonly StoredMember[]): SchemaError[] {
  return sdl.inputFieldsOf(input).flatMap((node) => {
    const { value: name } = node.name;
    const member = members.find((one) => one.name === name);
    const isLost = `${input}.${name} is no member of ${type}, so it would be lost: add it there, or remove it`;
    return member ? nestedErrors(sdl, node, member) : errorsAt(node, isLost);
  });
}

function nestedErrors(sdl: Sdl, { type }: InputValueDefinitionNode, member: StoredMember): SchemaError[] {
  const isNested = sdl.isInputObject(namedType(type)) && member.members.length > 0;
  return isNested ? inputErrors(sdl, namedType(type), member.type, member.members) : [];
}

/** Finds arguments of a write of one object that are none of its members; those of a PATCH or PUT are nothing else. */
function argumentErrors(sdl: Sdl, field: FieldDefinitionNode, stored: StoredType): SchemaError[] {
  const { method = '', path = '' } = directiveOf(field, 'rest') ?? {};
  const isChange = method === 'PATCH' || method === 'PUT';
  return (field.arguments ?? []).flatMap((argument) => {
    const { value: name } = argument.name;
    const member = stored.members.find((one) => one.name === name);
    if (member) return nestedErrors(sdl, argument, member);
    const isLost = isChange && name !== IF_MATCH && !path.split('/').includes(`:${name}`);
    return errorsAt(
      argument,
      isLost &&
        `Mutation.${field.name.value}(${name}:) is no member of ${stored.type}, which a ${method} sets: add it there, or use POST`,
    );
  });
}

/** Members that a bulk upsert sets itself, or ignores. */
const OWN: readonly string[] = ['id', ERASED_AT, 'created_at', 'updated_at'];

const ORGANISATION: Organisation = {
  ...{ id: '00000000-0000-4000-8000-000000000000', name: 'Sample', currency: 'CHF' },
  ...{ plan: 'integrations', cluster: 'sample', state: 'active' },
};

type Row = Readonly<Record<string, unknown>>;

/** Tries a merge, which is code, with elements that differ in one member each. */
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

  /** Members that would be null and must not be, with as little as an element may have. */
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
