import type { OpenApiDocument, OpenApiOperation } from '../openapi';

/* The parts of an OpenAPI document that the reference shows. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly 'x-extensible-enum'?: readonly unknown[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

/** An operation, and where its page is. */
export interface Operation extends OpenApiOperation {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  /** Its first tag. */
  readonly group: string;
  readonly title: string;
  readonly href: string;
}

export const REFERENCE = '/api/v1/docs';

/** The operations of a document in its order. */
export function operationsOf({ paths }: OpenApiDocument): readonly Operation[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const short = all.map(({ operation }) => shortName(operation));
  return all.map(({ operation, ...where }, at) => {
    const { operationId, tags } = operation;
    const [group = ''] = tags;
    const slug = short[at] ?? operationId;
    // two operations of one group may shorten to the same name: both then keep their whole ids
    const isUnique = short.every(
      (other, index) => index === at || other !== slug || all[index]?.operation.tags[0] !== group,
    );
    return {
      ...operation,
      ...where,
      group,
      title: titleOf(operation),
      href: `${REFERENCE}/${encodeURIComponent(group)}/${(isUnique ? slug : operationId).replaceAll('_', '-')}`,
    };
  });
}

/** The summary up to its first clause (“List orders, newest first” is “List orders”), or the words of the id if that is longer than {@link LONGEST_TITLE}. */
function titleOf({ summary, operationId }: OpenApiOperation): string {
  const [start = ''] = /^.*?(?=[.:;]|, | in one call| with |$)/s.exec(summary) ?? [];
  return start === '' || start.length > LONGEST_TITLE ? words(operationId) : start.replaceAll('`', '');
}

/** In characters: what fits on one line of the list beside the page. */
const LONGEST_TITLE = 48;

/** The id without the name of its group: `list` for list_orders, `list_messages` for list_request_messages. */
function shortName({ operationId, tags: [group = ''] }: OpenApiOperation): string {
  const names = [group, group.replace(/s$/, ''), group.replace(/ies$/, 'y'), group.replace(/es$/, '')];
  const [verb = '', ...rest] = operationId.split('_');
  const text = `_${rest.join('_')}_`;
  const name = names.find((candidate) => text.includes(`_${candidate}_`));
  return `${verb}${name === undefined ? text : text.replace(`_${name}_`, '_')}`.replace(/_+$/, '');
}

/** A name as words: “List request messages”. */
export function words(name: string): string {
  const text = name.replaceAll(/[_-]+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A part with what its reference to a component means; members beside the reference take precedence. */
export function resolved<T extends { readonly $ref?: string | undefined }>(
  { components }: OpenApiDocument,
  part: T,
): T {
  const { $ref, ...own } = part;
  if ($ref === undefined) return part;
  const [kind = '', name = ''] = $ref.replace('#/components/', '').split('/');
  return { ...(components[kind]?.[name] as T), ...own };
}

/** The answers of an operation by status. */
export function answersOf(
  document: OpenApiDocument,
  { responses }: OpenApiOperation,
): readonly (readonly [string, Answer])[] {
  return Object.entries(responses).map(([status, answer]) => [
    status,
    resolved(document, answer as { $ref?: string }) as unknown as Answer,
  ]);
}

/** The error codes that an answer can have, with what each means: its description has a paragraph for each (openapi/answers.ts). */
export function codesOf({ description, content = {} }: Answer): readonly (readonly [code: string, text: string])[] {
  const examples = Object.values(content)[0]?.examples ?? {};
  const texts = description.split('\n\n');
  return Object.keys(examples).map((code) => {
    const start = `\`${code}\`: `;
    return [code, texts.find((text) => text.startsWith(start))?.slice(start.length) ?? ''];
  });
}

/** The scopes of which a key needs one; empty if any key will do. */
export function scopesOf({ security }: OpenApiOperation): readonly string[] {
  const alternatives = security.map((alternative) => Object.values(alternative).flat().join(' and '));
  return alternatives.includes('') ? [] : alternatives;
}

/** JSON text with two spaces. */
export const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** A value in a path, a query or a sentence. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
