import type { SchemaModel } from '../model';
import { PERSON, referringMembers } from '../personal';
import { restrictingMembers } from '../restricted';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/** Finds stored types whose objects a key restricted to customers would have of every customer. */
export function restrictedErrors(sdl: SchemaModel): SchemaError[] {
  return [...sdl.stored.values()].flatMap((stored) => {
    const { type, restrictedBy: by } = stored;
    const possible = restrictingMembers(sdl.stored, stored);
    const [first] = possible;
    const isOfCustomer = type === PERSON || referringMembers(stored).length > 0;
    const remedy =
      first === undefined
        ? 'remove it'
        : `write ${possible.map((member) => `@restricted(by: "${member}")`).join(' or ')}`;
    return errorsAt(
      nodeOf(sdl, type),
      by === undefined &&
        isOfCustomer &&
        `${type === PERSON ? type : `${type} refers to a customer by ${String(first)}, but`} lacks @restricted, so a key with customer_ids would have the objects of all customers: ${remedy}`,
      by !== undefined &&
        !possible.includes(by) &&
        `${type} has @restricted(by: "${by}"), but ${by} is neither a customer's id nor the id of a restricted object that a ${type} is part of: ${remedy}`,
    );
  });
}
