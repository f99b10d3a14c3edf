import { type InputValueDefinitionNode, Kind } from 'graphql';
import { filterOf } from '../filters';
import type { SchemaModel } from '../model';
import { PERSON, referringMembers } from '../personal';
import { restrictingMembers, restrictionOf } from '../restricted';
import { directiveOf } from '../sdl';
import { ownerOf, type StoredType } from '../storedTypes';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/** Finds stored types whose objects a key restricted to customers would have of every customer, and operations that it could not call. */
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
    const ofType = errorsAt(
      nodeOf(sdl, type),
      by === undefined &&
        isOfCustomer &&
        `${type === PERSON ? type : `${type} refers to a customer by ${String(first)}, but`} lacks @restricted, so a key with customer_ids would have the objects of all customers: ${remedy}`,
      by !== undefined &&
        !possible.includes(by) &&
        `${type} has @restricted(by: "${by}"), but ${by} is neither a customer's id nor the id of a restricted object that a ${type} is part of: ${remedy}`,
    );
    return [...ofType, ...partErrors(sdl, stored)];
  });
}

/** Finds reads of parts by other than their ids or that of their owner: only these say whether such a key has them (tenant/restricted.ts). */
function partErrors(sdl: SchemaModel, stored: StoredType): SchemaError[] {
  const { type, collection } = stored;
  const restriction = restrictionOf(sdl.stored, stored);
  if (typeof restriction !== 'object' || !('owner' in restriction)) return [];
  const isOfOwner = (argument: InputValueDefinitionNode): boolean =>
    filterOf(argument)?.member === restriction.column && argument.type.kind === Kind.NON_NULL_TYPE;
  return sdl.roots.flatMap(({ kind, field }) => {
    const { value: name } = field.name;
    const uses = [
      name === collection && !field.arguments?.some(isOfOwner) && 'lists',
      directiveOf(field, 'totals')?.of === type && 'sums',
      sdl.upserts.some(({ operation, stored: of }) => operation === name && of === stored) && 'finds',
    ];
    const owner = ownerOf(stored, sdl.stored.values())?.type ?? '';
    return errorsAt(
      field,
      ...uses.map(
        (use) =>
          use &&
          `${kind}.${name} ${use} any ${type}, but a key with customer_ids can only be given those of one ${owner}: remove it, or add updated_at: DateTime! and customer_id: ID to ${type}, with @restricted(by: "customer_id")`,
      ),
    );
  });
}
