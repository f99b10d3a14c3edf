import { directiveOf, type Sdl } from '../sdl';
import type { SchemaModel } from '../model';
import { canBeErased, ERASED, takesFreeText, typesOfCustomer } from '../personal';
import { type StoredType, typesIn } from '../storedTypes';
import { errorsAt, type SchemaError } from './errors';

/** Finds personal data that erasing a customer would leave behind, and @personal where erasing does not look for it. */
export function personalErrors(sdl: SchemaModel): SchemaError[] {
  const withPersonalData = [...new Set(typesOfCustomer(sdl.stored).flatMap(({ stored, parts }) => [stored, ...parts]))];
  const membersWithPersonal = new Set(
    withPersonalData.flatMap(({ type, members }) => members.map(({ name }) => `${type}.${name}`)),
  );
  const misplaced = new Set<string>();
  const stray = sdl.fields.flatMap(({ type, field }) => {
    const place = `${type}.${field.name.value}`;
    if (!directiveOf(field, 'personal') || membersWithPersonal.has(place)) return [];
    const enclosing = withPersonalData.flatMap((stored) =>
      stored.members.filter((member) => typesIn(member).includes(type)).map(({ name }) => `${stored.type}.${name}`),
    );
    for (const member of enclosing) misplaced.add(member);
    const why =
      enclosing.length > 0
        ? `that is said of whole objects: write it on ${enclosing.join(' and ')} instead`
        : 'is not a member of a stored type that refers to a customer: remove @personal';
    return errorsAt(field, `${place} is @personal, but ${why}`);
  });
  return [...withPersonalData.flatMap((stored) => erasureErrors(sdl, stored, misplaced)), ...stray];
}

/** `misplaced` are members with @personal inside them, of which that is an error already. */
function erasureErrors(sdl: Sdl, { type, unique, members }: StoredType, misplaced: ReadonlySet<string>): SchemaError[] {
  return sdl.fieldsOf(type).flatMap((field) => {
    const member = members.find(({ name }) => name === field.name.value);
    if (!member) return [];
    const place = `${type}.${member.name}`;
    const personal = directiveOf(field, 'personal');
    // the unique member needs no @personal: every object keeps the name by which callers know it
    if (member.name === unique)
      return errorsAt(
        field,
        personal?.erased === true &&
          `${place} is @personal, but no two objects may have the same, as those that were erased would: add erased: false`,
      );
    return errorsAt(
      field,
      !personal &&
        !misplaced.has(place) &&
        takesFreeText(sdl, field, member) &&
        `${place} takes any text about a customer: add @personal, so that erasing the customer erases it, or @personal(erased: false) to keep it`,
      personal?.erased === true &&
        !canBeErased(field, member) &&
        `${place} is @personal but can be neither null nor the text "${ERASED}", which replaces what is erased: make it nullable`,
    );
  });
}
