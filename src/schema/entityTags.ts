import { hash } from 'node:crypto';
import {
  type FieldDefinitionNode,
  getNullableType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql';
import { invalidRequest } from '../errors';
import { omittedFrom } from './restDocument';

/* Entity tags, and writes that name the version they change (docs/decisions/if-match.md). */

/** The argument of a write with the version to change: `If-Match` on REST. */
export const IF_MATCH = 'if_match';
export const IF_MATCH_HEADER = 'If-Match';
/** The field of a stored type with its entity tag, for GraphQL. */
export const ETAG = 'etag';

export function takesIfMatch({ arguments: args = [] }: FieldDefinitionNode): boolean {
  return args.some(({ name }) => name.value === IF_MATCH);
}

/** A strong entity tag, which depends on the whole body (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
}

/** The entity tag of a stored object, as REST sends it. */
export function tagOf(schema: GraphQLSchema, type: string, row: object): string {
  return entityTag(JSON.stringify(represent(schema.getType(type) as GraphQLOutputType, row)));
}

/** A stored value as REST returns it: its own members, without resolvers. Ids are `_id` in the database and `id` in files. */
export function represent(outer: GraphQLOutputType, value: unknown): unknown {
  const type = getNullableType(outer);
  if (value === null || value === undefined) return null;
  if (isListType(type)) return (value as unknown[]).map((item) => represent(type.ofType, item));
  if (!isObjectType(type)) return 'serialize' in type ? type.serialize(value) : value;
  const { _id, ...members } = value as Readonly<Record<string, unknown>>;
  const row: Readonly<Record<string, unknown>> = { ...(_id !== undefined && { id: _id }), ...members };
  const fields = Object.values(type.getFields()).filter(
    ({ astNode }) => !astNode || [undefined, 'LISTS'].includes(omittedFrom(astNode)),
  );
  return Object.fromEntries(fields.map((field) => [field.name, represent(field.type, row[field.name])]));
}

const TAG = /(?:W\/)?"[^"]*"/g;
const TAGS = new RegExp(`^${TAG.source}(\\s*,\\s*${TAG.source})*$`);

/** Whether If-None-Match matches the tag; the RFC requires weak comparison for this header. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const named = new Set<string>(ifNoneMatch.match(TAG));
  return ifNoneMatch.trim() === '*' || named.has(tag) || named.has(`W/${tag}`);
}

/** The pattern of a valid If-Match, for the OpenAPI document. */
export const IF_MATCH_PATTERN = `^\\s*(?:\\*|${TAG.source}(\\s*,\\s*${TAG.source})*)\\s*$`;

/**
 * Returns a function that tells whether If-Match names an entity tag; weak tags never match (RFC 9110, section 13.1.1).
 * @throws AppError invalid_request if it is neither `*` nor a list of quoted tags.
 */
export function matcherOf(ifMatch: string | null | undefined): (tag: string) => boolean {
  const named = ifMatch?.trim() ?? '*';
  if (named === '*') return () => true;
  if (!TAGS.test(named))
    throw invalidRequest([
      { parameter: IF_MATCH_HEADER, code: 'format', detail: 'must be * or ETags in double quotes' },
    ]);
  const tags = new Set<string>(named.match(TAG));
  return (tag) => tags.has(tag);
}

/** The reason why If-Match does not name the current version. */
export function staleDetail(ifMatch: string | null | undefined): string {
  return ifMatch?.includes('W/"') === true
    ? 'A weak ETag never matches If-Match. A proxy on the way made it weak: send it without W/.'
    : 'The object has changed since the version in If-Match.';
}
