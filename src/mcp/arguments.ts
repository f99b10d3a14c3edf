import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { AppError, type Fault, invalidRequest, validationFailed } from '../errors';
import { directiveOf, ROWS } from '../schema/sdl';
import { referenceTo } from '../schema/storedTypes';
import { isUuidFault } from '../schema/validation';
import { isObject } from './protocol';
import type { Tool } from './tools';

/* Arguments as models write them, and errors that tell a model how to correct them. */

type WrapInLists = (value: unknown) => unknown;

/**
 * Returns a function that wraps single values in a list where a member takes a list; undefined if no member does. It copies only what
 * changes, since a call can have 5 MiB.
 */
export function listsIn(
  members: readonly { readonly name: string; readonly type: GraphQLInputType }[],
): WrapInLists | undefined {
  const membersWithLists = members.flatMap(({ name, type }) => {
    const inMember = listsOf(type);
    return inMember ? [[name, inMember] as const] : [];
  });
  if (membersWithLists.length === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    let changed: Record<string, unknown> | undefined;
    for (const [name, inMember] of membersWithLists) {
      if (!Object.hasOwn(value, name)) continue;
      const member = inMember(value[name]);
      if (member !== value[name]) (changed ??= { ...value })[name] = member;
    }
    return changed ?? value;
  };
}

function listsOf(of: GraphQLInputType): WrapInLists | undefined {
  const type = getNullableType(of);
  if (isInputObjectType(type)) return listsIn(Object.values(type.getFields()));
  if (!isListType(type)) return undefined;
  const inItem = listsOf(type.ofType);
  return (value) => {
    if (value === null || value === undefined) return value;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return inItem ? items.map(inItem) : items;
  };
}

/** Adds to a check's error what helps the calling model: which arguments exist, and which tools find an id. */
export type Explain = (error: unknown, tool: Tool) => unknown;

export function createExplain(tools: readonly Tool[]): Explain {
  /** The operation that lists a type's objects, by the name of the arguments that refer to such an object. */
  const lists = new Map(
    tools.flatMap((tool) => {
      const type = rowType(tool);
      return type?.stored?.collection === tool.operation.name
        ? [[referenceTo(type.name), tool.operation] as const]
        : [];
    }),
  );
  /** What to add to the fault of an id: the tool that lists such objects, or all lists if it is not known, such as for an event's object_id. */
  const findersOf = (argument: string, { operation: { rest } }: Tool): string => {
    // `id` is that of an object at this path
    const [, path] = /^(.+)\/:id\b/.exec(rest?.path ?? '') ?? [];
    const isAbove = (tool: Tool['operation']): boolean => path !== undefined && tool.rest?.path === path;
    const list = lists.get(argument) ?? (argument === 'id' ? [...lists.values()].find(isAbove) : undefined);
    const names = (list ? [list] : [...lists.values()]).map(({ name }) => name);
    if (names.length === 0) return '';
    return names.length === 1
      ? `; the tool ${String(names[0])} finds it`
      : `; one of the tools ${names.join(', ')} finds it`;
  };
  return (error, tool) => {
    if (!(error instanceof AppError) || !error.extras.errors) return error;
    const errors = error.extras.errors.map((fault): Fault => {
      const name = fault.parameter ?? fault.pointer?.split('/').at(-1) ?? '';
      const isOfArgument = fault.parameter !== undefined || /^\/[^/]*$/.test(fault.pointer ?? '');
      // an unknown member within an argument is not one of the tool's
      if (fault.code === 'unknown' && isOfArgument) return { ...fault, detail: unknownDetail(tool) };
      return isUuidFault(fault) ? { ...fault, detail: fault.detail + findersOf(name, tool) } : fault;
    });
    const { moreErrors } = error.extras;
    return error.code === 'invalid_request' ? invalidRequest(errors, moreErrors) : validationFailed(errors, moreErrors);
  };
}

/** The type of a list's rows; undefined for any other tool. `stored` is its @stored. */
function rowType({ field: { type } }: Tool) {
  const page = getNamedType(type);
  const rows = isObjectType(page) ? page.getFields()[ROWS] : undefined;
  const row = rows && getNamedType(rows.type);
  return isObjectType(row) ? { name: row.name, stored: directiveOf(row.astNode, 'stored') } : undefined;
}

export function unknownArgument(name: string, tool: Tool): Fault {
  return { pointer: `/${name}`, code: 'unknown', detail: unknownDetail(tool) };
}

function unknownDetail({ argumentNames }: Tool): string {
  const names = argumentNames.join(', ');
  return `is not an argument of this tool, which ${names === '' ? 'has none' : `has ${names}`}`;
}
