import type { DocumentNode } from 'graphql';
import { canBeErased, takesFreeText, typesOfCustomer } from '../personal';
import { allFieldNodes, directiveOf, fieldsOf } from '../sdl';
import { sentences } from './sentences';
import type { StoredType, Types } from '../storedTypes';

/* Finds personal data that erasing a customer would leave. */

/** One message per gap, with what to change where. */
export function personalGaps(document: DocumentNode, types: Types): string[] {
  const concerned = new Set(typesOfCustomer(types).flatMap(({ stored, parts }) => [stored, ...parts]));
  const members = new Set([...concerned].flatMap(({ type, members: own }) => own.map(({ name }) => `${type}.${name}`)));
  const stray = allFieldNodes(document).flatMap(({ type, field }) => {
    const place = `${type}.${field.name.value}`;
    return directiveOf(field, 'personal') && !members.has(place)
      ? [`${place} is @personal, but is no member of a stored type that refers to a customer: remove it`]
      : [];
  });
  return [...[...concerned].flatMap((stored) => memberGaps(document, stored)), ...stray];
}

function memberGaps(document: DocumentNode, { type, unique, members }: StoredType): string[] {
  const fields = fieldsOf(document, type);
  return members.flatMap((member) => {
    const field = fields.find(({ name }) => name.value === member.name);
    if (!field || member.name === unique) return [];
    const personal = directiveOf(field, 'personal');
    const place = `${type}.${member.name}`;
    return sentences(
      !personal &&
        takesFreeText(document, field, member) &&
        `${place} takes any text about a customer: add @personal, so that erasing the customer erases it, or @personal(erased: false) to keep it`,
      personal?.erased === true &&
        !canBeErased(member) &&
        `${place} is @personal but can be neither null nor a text, so it cannot be erased: make it nullable`,
    );
  });
}
