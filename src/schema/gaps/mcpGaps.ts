import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { omittedFrom } from '../restDocument';
import { directiveOf, fieldsOf, isListType, namedType, type RootType } from '../sdl';
import { sentences } from './sentences';

/** Arguments that tools have beside those of their operation. */
export const FIELDS = 'fields';
export const IDEMPOTENCY_KEY = 'idempotency_key';
/** The member of a list's answer with its rows. */
export const ROWS = 'data';

/** Finds a root field that could not be the tool that its @mcp says. */
export function toolGaps(document: DocumentNode, rootOf: RootType, field: FieldDefinitionNode): string[] {
  const [mcp, rest] = [directiveOf(field, 'mcp'), directiveOf(field, 'rest')];
  const { arguments: args = [] } = field;
  const taken = mcp || rest ? args.filter(({ name }) => [FIELDS, IDEMPOTENCY_KEY].includes(name.value)) : [];
  const rows = fieldsOf(document, namedType(field.type)).find(({ name }) => name.value === ROWS);
  const members = fieldsOf(document, rows && namedType(rows.type));
  const unknown = (mcp?.fields ?? []).filter((name) => !members.some((one) => one.name.value === name));
  const limit = args.find(({ name }) => name.value === 'limit');
  const { min = 1, max = Infinity } = directiveOf(limit, 'constraint') ?? {};
  const size = mcp?.limit;
  const isWrite = rootOf === 'Mutation';
  const unseen = rest ? members.filter((one) => mcp?.fields?.includes(one.name.value) && omittedFrom(one)) : [];
  const hints = isWrite ? [] : argumentsOf(field).filter((name) => name === 'destructive' || name === 'idempotent');
  return sentences(
    ...taken.map(({ name }) => `takes ${name.value}, which tools use themselves: rename it`),
    mcp && directiveOf(field, 'access')?.role !== undefined && 'is for users but has @mcp',
    mcp?.fields && !rows && `has @mcp(fields:) but returns no list: its type has no ${ROWS}`,
    ...(rows ? unknown : []).map((name) => `has @mcp(fields:) with ${name}, which its rows lack`),
    ...unseen.map(({ name }) => `has @mcp(fields:) with ${name.value}, which REST lists omit, so tools do: remove it`),
    mcp?.fields?.length === 0 && 'has @mcp(fields: []), so rows would have an id at most: name members, or remove it',
    mcp?.fields && isWrite && 'has @mcp(fields:), which is for reads: remove it',
    ...hints.map((name) => `has @mcp(${name}:), which is for writes: remove it`),
    size !== undefined && !limit && 'has @mcp(limit:) but no argument limit',
    size !== undefined &&
      limit &&
      (size < min || size > max) &&
      `has @mcp(limit: ${String(size)}), which limit refuses`,
  );
}

/** What is written in the @mcp of a field. */
function argumentsOf({ directives = [] }: FieldDefinitionNode): string[] {
  const mcp = directives.find(({ name }) => name.value === 'mcp');
  return (mcp?.arguments ?? []).map(({ name }) => name.value);
}

/** Finds a mark on a field where it has no effect. */
export function markGaps(field: FieldDefinitionNode): string[] {
  const isText = namedType(field.type) === 'String' && !isListType(field.type);
  return sentences(directiveOf(field, 'untrusted') && !isText && 'has @untrusted, which is for fields of type String');
}
