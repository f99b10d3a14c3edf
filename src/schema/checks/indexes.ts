import { columnOf, indexDirectivesOf } from '../indexes';
import type { SchemaModel } from '../model';
import { directiveOf, isObjectNode } from '../sdl';
import type { StoredMember, StoredType } from '../storedTypes';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/* Finds indexes that MongoDB would refuse, and those of @index that name what is not stored, or one member twice. */

/** Of one collection, with that of `_id`. */
const MOST_INDEXES = 64;
/** Members of one index. */
const MOST_MEMBERS = 32;

export function indexErrors(sdl: SchemaModel): SchemaError[] {
  const strays = sdl.document.definitions.filter(isObjectNode).flatMap((node) => {
    const { value: type } = node.name;
    const isStray = directiveOf(node, 'index') && !sdl.stored.has(type);
    return errorsAt(node, isStray && `${type} has @index, but is not @stored: remove it`);
  });
  return [...strays, ...[...sdl.stored.values()].flatMap((stored) => errorsOfType(sdl, stored))];
}

function errorsOfType(sdl: SchemaModel, stored: StoredType): SchemaError[] {
  const { type, members } = stored;
  const declared = indexDirectivesOf(sdl, type).flatMap(({ node, on }) =>
    errorsAt(
      node,
      on.length === 0 && `${type} has @index(on: []): name a member`,
      ...on.flatMap((name) => memberErrors(type, members, name)),
      ...on.filter(isNamedBefore).map((name) => `${type} has @index(on: "${name}") of a member that it has: remove it`),
    ),
  );
  if (declared.length > 0) return declared;
  const all = sdl.indexesOf(stored);
  const names = new Set<string>();
  const signatures = new Set<string>();
  const wrong = all.flatMap(({ on, options }) => {
    const columns = Object.keys(on);
    const { name = Object.entries(on).flat().join('_'), ...others } = options ?? {};
    const isRepeated = names.has(name);
    names.add(name);
    // MongoDB takes indexes with the same members if one of them is unique or partial
    const signature = JSON.stringify([Object.entries(on), others]);
    const isSame = signatures.has(signature);
    signatures.add(signature);
    const lists = columns.filter((column) => members.some((member) => member.name === column && member.isList));
    return [
      isRepeated && `${type} has two indexes with the name ${name}: give one of them another`,
      isSame && !isRepeated && `${type} has two indexes on ${columns.join(', ')}: remove one of them`,
      lists.length > 1 && `${type} has an index on ${lists.join(' and ')}, but MongoDB indexes one list at most`,
      columns.length > MOST_MEMBERS &&
        `${type} has an index on ${String(columns.length)} members, but MongoDB takes ${String(MOST_MEMBERS)}`,
    ];
  });
  const isTooMany = all.length + 1 > MOST_INDEXES;
  return errorsAt(
    nodeOf(sdl, type),
    ...wrong,
    isTooMany &&
      `${type} needs ${String(all.length + 1)} indexes, but MongoDB takes ${String(MOST_INDEXES)}: remove filters or sorts`,
  );
}

/** Whether a member of @index is there already, in either direction. */
function isNamedBefore(name: string, at: number, on: readonly string[]): boolean {
  return on.findIndex((other) => columnOf(other) === columnOf(name)) < at;
}

function memberErrors(type: string, members: readonly StoredMember[], name: string): unknown[] {
  const member = members.find((candidate) => columnOf(candidate.name) === columnOf(name));
  return [
    !member && `${type} has @index(on: "${name}"), which is not a member of ${type}: correct it`,
    member?.kind === 'object' && `${type} has @index(on: "${name}"), which is an object: name a member with a value`,
  ];
}
