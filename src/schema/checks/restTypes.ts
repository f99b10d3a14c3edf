import { namedType } from '../../sdl/nodes';
import type { SchemaModel } from '../model';
import { omittedFrom } from '../restDocument';
import { directiveOf } from '../sdl';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/** Finds stored types that REST does not have: export and import write and read objects as REST has them. */
export function restTypeErrors(sdl: SchemaModel): SchemaError[] {
  const inRest = new Set<string>();
  const add = (type: string): void => {
    if (inRest.has(type)) return;
    inRest.add(type);
    for (const field of sdl.fieldsOf(type)) if (omittedFrom(field) !== 'EVERYWHERE') add(namedType(field.type));
  };
  for (const { field } of sdl.roots) if (directiveOf(field, 'rest')) add(namedType(field.type));
  return [...sdl.stored.values()].flatMap(({ type, collection }) =>
    errorsAt(
      sdl.rootField(collection) ?? nodeOf(sdl, type),
      !inRest.has(type) &&
        `${type} is exported and imported as REST has it, but no route answers with it: add @rest(path: "/${collection}") to Query.${collection}`,
    ),
  );
}
