import {
  getNamedType,
  getNullableType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { AppError, type Fault, invalidRequest, validationFailed } from '../errors';
import { directiveOf, ROWS } from '../schema/sdl';
import { referenceTo } from '../schema/storedTypes';
import { isObject, type Params } from './protocol';
import type { Tool } from './tools';

/* Arguments as models write them, and what tells a model how to mend them. */

type Member = readonly [name: string, type: GraphQLInputType];

/** Arguments in which a single value is a list of one where a list is wanted. Only what changes is copied: a call can have 5 MiB. */
export function withLists(args: Params, { field }: Tool): Params {
  return inLists(
    args,
    field.args.map(({ name, type }) => [name, type]),
  );
}

function inLists(value: Params, members: readonly Member[]): Params {
  let changed: Record<string, unknown> | undefined;
  for (const [name, type] of members) {
    if (!Object.hasOwn(value, name)) continue;
    const listed = inList(value[name], type);
    if (listed !== value[name]) (changed ??= { ...value })[name] = listed;
  }
  return changed ?? value;
}

function inList(value: unknown, of: GraphQLInputType): unknown {
  const type = getNullableType(of);
  if (value === null || value === undefined) return value;
  if (isListType(type)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return hasLists(type.ofType) ? items.map((item) => inList(item, type.ofType)) : items;
  }
  return isInputObjectType(type) && isObject(value) ? inLists(value, listsOf(type)) : value;
}

const known = new WeakMap<GraphQLInputObjectType, readonly Member[]>();

/** The members of a type that are lists, or have some in them. */
function listsOf(type: GraphQLInputObjectType): readonly Member[] {
  let found = known.get(type);
  if (!found) {
    const members = Object.values(type.getFields()).map((member): Member => [member.name, member.type]);
    // a type can be inside itself
    known.set(type, members);
    known.set(type, (found = members.filter(([, of]) => hasLists(of))));
  }
  return found;
}

function hasLists(of: GraphQLInputType): boolean {
  const type = getNullableType(of);
  return isListType(type) || (isInputObjectType(type) && listsOf(type).length > 0);
}

/** The error of a check, for the model that called a tool: which arguments there are, and which tools find an id. */
export type Explain = (error: unknown, tool: Tool) => unknown;

export function createExplain(tools: readonly Tool[]): Explain {
  /** The tool that lists the objects of a type, by the name of an argument that refers to one. */
  const lists = new Map(
    tools.flatMap((tool) => {
      const type = rowType(tool);
      return type?.stored?.collection === tool.operation.name
        ? [[referenceTo(type.name), tool.operation] as const]
        : [];
    }),
  );
  const namesOf = (argument: string, { operation: { rest } }: Tool): string => {
    const list = lists.get(argument);
    if (list) return `the tool ${list.name} finds it`;
    const [, path] = /^(.+)\/:id\b/.exec(rest?.path ?? '') ?? [];
    const above = argument === 'id' ? [...lists.values()].find((one) => one.rest?.path === path) : undefined;
    const finders = above ? [above] : [...lists.values()];
    return finders.length === 1
      ? `the tool ${String(finders[0]?.name)} finds it`
      : `one of the tools ${finders.map(({ name }) => name).join(', ')} finds it`;
  };
  return (error, tool) => {
    if (!(error instanceof AppError) || !error.extras.errors) return error;
    const errors = error.extras.errors.map((fault): Fault => {
      const name = fault.parameter ?? fault.pointer?.split('/').at(-1) ?? '';
      const isOwn = fault.parameter !== undefined || /^\/[^/]*$/.test(fault.pointer ?? '');
      if (fault.code === 'unknown' && isOwn) return { ...fault, detail: unknownDetail(tool) };
      const isId = fault.code === 'format' && fault.detail.endsWith('UUID');
      return isId ? { ...fault, detail: `${fault.detail}; ${namesOf(name, tool)}` } : fault;
    });
    const { moreErrors } = error.extras;
    return error.code === 'invalid_request' ? invalidRequest(errors, moreErrors) : validationFailed(errors, moreErrors);
  };
}

function rowType({ field: { type } }: Tool) {
  const page = getNamedType(type);
  const rows = isObjectType(page) ? page.getFields()[ROWS] : undefined;
  const row = rows && getNamedType(rows.type);
  return isObjectType(row) ? { name: row.name, stored: directiveOf(row.astNode, 'stored') } : undefined;
}

export function unknown(name: string, tool: Tool): Fault {
  return { pointer: `/${name}`, code: 'unknown', detail: unknownDetail(tool) };
}

function unknownDetail({ argumentNames }: Tool): string {
  const names = argumentNames.join(', ');
  return `is not an argument of this tool, which ${names === '' ? 'has none' : `has ${names}`}`;
}
