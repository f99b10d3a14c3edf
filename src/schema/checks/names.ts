import { itemName, omittedFrom } from '../restDocument';
import type { Sdl } from '../sdl';
import { errorsAt, type SchemaError } from './errors';

/** Finds names that keys or the OpenAPI document could not have. */
export function nameErrors(sdl: Sdl): SchemaError[] {
  return [...scopeNameErrors(sdl), ...itemTypeErrors(sdl)];
}

/** Finds scopes whose names have no two parts, and so no form in keys. */
function scopeNameErrors(sdl: Sdl): SchemaError[] {
  return sdl.enumValuesOf('Scope').flatMap((node) => {
    const { value } = node.name;
    return errorsAt(
      node,
      !/._./.test(value) && `enum Scope has ${value}: name what it is for and what it allows, such as ${value}_READ`,
    );
  });
}

/** Finds types whose names the OpenAPI document needs for rows of lists (openapi/include.ts). */
function itemTypeErrors(sdl: Sdl): SchemaError[] {
  const itemNames = new Map(
    sdl.fields.flatMap(({ type, field }) => (omittedFrom(field) === 'LISTS' ? [[itemName(type), type] as const] : [])),
  );
  return sdl.document.definitions.flatMap((node) => {
    const name = 'name' in node ? node.name.value : undefined;
    const whole = name === undefined ? undefined : itemNames.get(name);
    return errorsAt(
      node,
      whole !== undefined &&
        `${String(name)} is what the rows in lists of ${whole} are called in OpenAPI: use another name`,
    );
  });
}
