import type { FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { IF_MATCH } from '../entityTags';
import { directiveOf, namedType, type Sdl } from '../sdl';
import type { StoredMember, StoredType } from '../storedTypes';
import { type Checked, errorsAt, type SchemaError } from './errors';

/* Finds writes that would lose what callers send. */

export function writeErrors({ sdl }: Checked): SchemaError[] {
  const ofUpserts = sdl.upserts.flatMap(({ element, stored }) =>
    inputErrors(sdl, element, stored.type, stored.members),
  );
  const ofChanges = sdl.roots.flatMap(({ kind, field }) => {
    const stored = kind === 'Mutation' ? sdl.stored.get(namedType(field.type)) : undefined;
    return stored ? argumentErrors(sdl, field, stored) : [];
  });
  return [...ofUpserts, ...ofChanges];
}

/** Finds members of an input that the stored type lacks. */
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

/** Finds arguments that are not members of the object that a write changes; all arguments of a PATCH or PUT must be members. */
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
