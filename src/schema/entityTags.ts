import { hash } from 'node:crypto';
import {
  type FieldDefinitionNode,
  getNullableType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql';
import { AppError, type Fault, invalidRequest } from '../errors';
import { ATTACHMENTS, isAttachmentsType } from './attachmentNames';
import { isMetadataType, METADATA, metadataObject } from './metadata';
import { omittedFrom } from './restDocument';

/* Entity tags, and the conditions of requests that name them (docs/decisions/if-match.md). */

/** The argument of a write with the version to change: `If-Match` on REST. */
export const IF_MATCH = 'if_match';
export const IF_MATCH_HEADER = 'If-Match';
/** The field of a stored type with its entity tag, for GraphQL. */
export const ETAG = 'etag';

export function takesIfMatch({ arguments: args = [] }: FieldDefinitionNode): boolean {
  return args.some(({ name }) => name.value === IF_MATCH);
}

/** 162 bits of the hash, enough that no two versions of an object have one tag. */
const TAG_LENGTH = 27;

/** A strong entity tag, which depends on the whole body (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Buffer): string {
  return digestTag(hash('sha256', body, 'base64url'));
}

/** The entity tag of a body by its SHA-256, in base64url. */
export const digestTag = (sha256: string): string => `"${sha256.slice(0, TAG_LENGTH)}"`;

/** Empty metadata and attachments in the JSON of an object. */
const EMPTY = [`,"${METADATA}":{}`, `,"${ATTACHMENTS}":[]`];

/** The entity tag of an object in JSON. Empty metadata and attachments do not count: clients may have kept tags from before objects had these members. */
export function objectTag(body: string | Buffer): string {
  return entityTag(EMPTY.reduce<string | Buffer>(without, body));
}

/** The body without the first occurrence of a member. */
function without(body: string | Buffer, member: string): string | Buffer {
  // a text in JSON cannot have these characters, since its quotes are escaped
  const at = body.indexOf(member);
  if (at === -1) return body;
  const after = at + member.length;
  if (typeof body === 'string') return body.slice(0, at) + body.slice(after);
  return Buffer.concat([body.subarray(0, at), body.subarray(after)]);
}

/** The entity tag of a stored object, as REST sends it. */
export function tagOf(schema: GraphQLSchema, type: string, row: object): string {
  return objectTag(JSON.stringify(represent(schema.getType(type) as GraphQLOutputType, row)));
}

/** A stored value as REST returns it without `include`: its stored members, without resolvers. Its id may be `_id`, as in the database, or `id`, as in files. */
export function represent(declared: GraphQLOutputType, value: unknown): unknown {
  if (isMetadataType(declared)) return metadataObject(value);
  const type = getNullableType(declared);
  if (value === null || value === undefined) return isAttachmentsType(declared) ? [] : null;
  if (isListType(type)) return (value as unknown[]).map((item) => represent(type.ofType, item));
  if (!isObjectType(type)) return 'serialize' in type ? type.serialize(value) : value;
  const { _id, ...members } = value as Readonly<Record<string, unknown>>;
  const row: Readonly<Record<string, unknown>> = { ...(_id !== undefined && { id: _id }), ...members };
  const fields = Object.values(type.getFields()).filter(
    ({ astNode }) => !astNode || [undefined, 'LISTS'].includes(omittedFrom(astNode)),
  );
  return Object.fromEntries(fields.map((field) => [field.name, represent(field.type, row[field.name])]));
}

/** An opaque tag (RFC 9110, section 8.8.3), here of ASCII alone. */
const TAG = /(?:W\/)?"[\x21\x23-\x7e]*"/g;
const TAGS = `${TAG.source}(?:[ \\t]*,[ \\t]*${TAG.source})*`;
const NAMED = new RegExp(`^${TAGS}$`);

/** Removes the spaces around a header's value. Not by a pattern: one for the spaces at the end takes quadratic time with others before them. */
function trimmed(header: string): string {
  let [start, end] = [0, header.length];
  while (start < end && isBlank(header[start])) start += 1;
  while (end > start && isBlank(header[end - 1])) end -= 1;
  return header.slice(start, end);
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/** The pattern of a valid If-Match, for the OpenAPI document. */
export const IF_MATCH_PATTERN = `^(?:\\*|${TAGS})$`;

/**
 * A tag that {@link entityTag} made, as proxies that compress hand it on: weak (nginx, HAProxy, Cloudflare, Envoy, Varnish), or with the coding
 * after it, as in `-gzip` (Apache, Caddy, lighttpd), `--gzip` (Jetty) or `;br`; several, one behind another, each add theirs.
 */
const HANDED_ON = new RegExp(
  `^(?:W/)?("[\\w-]{${String(TAG_LENGTH)}})(?:(?:--?|;)(?:x-)?(?:gzip|gunzip|br|zstd|deflate|compress)){0,3}"$`,
);

/**
 * The tags in a header, each of ours as we sent it. Such a tag is the hash of the object, so it names the same version in any coding, and
 * If-Match may compare it although it is weak now.
 */
function tagsIn(header: string): ReadonlySet<string> {
  return new Set(header.match(TAG)?.map((tag) => tag.replace(HANDED_ON, '$1"')));
}

/** Whether If-None-Match names the tag. What is not a tag matches nothing, which only costs the caller a complete answer. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return trimmed(ifNoneMatch) === '*' || tagsIn(ifNoneMatch).has(tag);
}

/** The fault of an If-Match that is neither `*` nor a list of quoted tags; undefined if there is none. */
export function ifMatchFault(ifMatch: string): Fault | undefined {
  const named = trimmed(ifMatch);
  if (named === '*' || NAMED.test(named)) return undefined;
  return { parameter: IF_MATCH_HEADER, code: 'format', detail: 'must be * or ETags in double quotes' };
}

/** The conditions of a request for one object (RFC 9110, section 13.1), as sent. */
export interface Conditions {
  readonly ifMatch: string | null | undefined;
  /** Only of a write: a read answers 304 for it, which its caller sees to. */
  readonly ifNoneMatch?: string | undefined;
}

/**
 * Throws if an object that exists is not in a version that the request is for. `tag` returns undefined if the answer has no tag; it is not called
 * without a condition, or for `If-Match: *` alone.
 */
export type RequireVersion = (tag: () => string | undefined) => void;

/** @throws AppError invalid_request if If-Match is malformed; {@link RequireVersion} throws precondition_failed */
export function versionRequired({ ifMatch, ifNoneMatch }: Conditions): RequireVersion {
  const fault = ifMatch == null ? undefined : ifMatchFault(ifMatch);
  if (fault) throw invalidRequest([fault]);
  return (tag) => {
    requireVersion({ ifMatch, ifNoneMatch }, tag);
  };
}

/** The same for an If-Match whose form has been checked. @throws AppError precondition_failed */
export function requireVersion({ ifMatch, ifNoneMatch }: Conditions, tagOfObject: Parameters<RequireVersion>[0]): void {
  const isAny = ifMatch == null || trimmed(ifMatch) === '*';
  if (isAny && ifNoneMatch === undefined) return;
  const tag = tagOfObject();
  if (!isAny && (tag === undefined || !tagsIn(ifMatch).has(tag)))
    throw new AppError('precondition_failed', tag === undefined ? WITHOUT_TAG : STALE);
  if (tag !== undefined && matchesTag(ifNoneMatch, tag)) throw new AppError('precondition_failed', NAMED_BY_NONE);
}

/** The details of precondition_failed. */
const STALE = 'The object has changed since the version in If-Match.';
const WITHOUT_TAG = 'With include there is no ETag that If-Match could name.';
const NAMED_BY_NONE = 'The object is in a version that If-None-Match names.';
