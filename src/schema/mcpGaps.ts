import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { directiveOf, fieldsOf, isListType, namedType } from './sdl';
import { sentences } from './sentences';

/** Arguments that tools have beside those of their operation. */
export const FIELDS = 'fields';
export const IDEMPOTENCY_KEY = 'idempotency_key';
/** The member of a list's answer with its rows. */
export const ROWS = 'data';

/** Finds a root field that could not be the tool that its @mcp says. */
export function toolGaps(document: DocumentNode, field: FieldDefinitionNode): string[] {
  const [mcp, rest] = [directiveOf(field, 'mcp'), directiveOf(field, 'rest')];
  const { arguments: args = [] } = field;
  const taken = mcp || rest ? args.filter(({ name }) => [FIELDS, IDEMPOTENCY_KEY].includes(name.value)) : [];
  const rows = fieldsOf(document, namedType(field.type)).find(({ name }) => name.value === ROWS);
  const members = fieldsOf(document, rows && namedType(rows.type)).map(({ name }) => name.value);
  const unknown = (mcp?.fields ?? []).filter((name) => !members.includes(name));
  const limit = args.find(({ name }) => name.value === 'limit');
  const { min = 1, max = Infinity } = directiveOf(limit, 'constraint') ?? {};
  const size = mcp?.limit;
  return sentences(
    ...taken.map(({ name }) => `takes ${name.value}, which tools use themselves: rename it`),
    mcp && directiveOf(field, 'access')?.role !== undefined && 'is for users but has @mcp',
    mcp?.fields && !rows && `has @mcp(fields:) but returns no list: its type has no ${ROWS}`,
    ...(rows ? unknown : []).map((name) => `has @mcp(fields:) with ${name}, which its rows lack`),
    size !== undefined && !limit && 'has @mcp(limit:) but no argument limit',
    size !== undefined &&
      limit &&
      (size < min || size > max) &&
      `has @mcp(limit: ${String(size)}), which limit refuses`,
  );
}

/** Finds a mark on a field where it has no effect. */
export function markGaps(field: FieldDefinitionNode, isRoot: boolean): string[] {
  const isText = namedType(field.type) === 'String' && !isListType(field.type);
  return sentences(
    !isRoot && directiveOf(field, 'mcp') && 'has @mcp, which is for root fields',
    directiveOf(field, 'untrusted') && !isText && 'has @untrusted, which is for fields of type String',
  );
}
