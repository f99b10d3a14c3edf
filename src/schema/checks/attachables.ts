import { print } from 'graphql';
import { ATTACHMENT, ATTACHMENTS } from '../attachmentNames';
import { readPath, writeScopeName } from '../attachables';
import type { SchemaModel } from '../model';
import { directiveOf } from '../sdl';
import { ownerOf } from '../storedTypes';
import { namedType } from '../../sdl/nodes';
import { errorsAt, type SchemaError } from './errors';

/* Finds attachments that would have no routes, or that nobody may add. */

export function attachmentErrors(sdl: SchemaModel): SchemaError[] {
  const scopes = sdl.enumValuesOf('Scope').map(({ name }) => name.value);
  return sdl.fields.flatMap(({ type, field }) => {
    if (namedType(field.type) !== ATTACHMENT) return [];
    const place = `${type}.${field.name.value}`;
    const stored = sdl.stored.get(type);
    const isList = stored && field.name.value === ATTACHMENTS && print(field.type) === `[${ATTACHMENT}!]!`;
    if (!isList)
      return errorsAt(
        field,
        `${place} is ${print(field.type)}: attachments are ${ATTACHMENTS}: [${ATTACHMENT}!]! of a type with @stored`,
      );
    const scope = writeScopeName(stored.collection);
    const owner = ownerOf(stored, sdl.stored.values());
    return errorsAt(
      field,
      owner &&
        `${place} is of a part of ${owner.type}: add attachments to ${owner.type}, or updated_at to ${type}, whose objects are then its own`,
      directiveOf(field, 'constraint')?.max_items === undefined &&
        `${place} takes any number of files: add @constraint(max_items: 20)`,
      readPath(sdl, type) === undefined &&
        `${place} needs a route below which its files are: add @rest(path: "/${stored.collection}/:id") to the field of Query that reads a ${type}`,
      !scopes.includes(scope) && `${place} needs the scope to add files: add ${scope} to the enum Scope`,
    );
  });
}
