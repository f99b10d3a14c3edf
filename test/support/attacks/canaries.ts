import { randomUUID } from 'node:crypto';
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { constraintOf } from '../../../src/schema/jsonSchema';
import { ATTACHMENTS } from '../../../src/schema/attachmentNames';
import type { ImportRecord } from '../../../src/stored/records';
import { isMetadataType } from '../../../src/schema/metadata';
import { omittedFrom } from '../../../src/schema/restDocument';
import { directiveOf } from '../../../src/schema/sdl';
import type { Json } from '../client';
import { northwind } from '../factories';
import { graphqlSchema } from '../operations';
import { names, type Records, RESOURCES } from '../resources';

/*
 * Records in which every text is a canary: a unique word, so that an answer containing it reveals where it came from.
 * Texts are found through the schema, so that new fields get canaries too.
 */

const ROWS = 6;

/** Six rows of each resource, all of one customer, with a canary of the organisation in every text. */
export function canaryRecords(organisation: string): Records {
  const canary = canaries(organisation);
  const make = (type: string, base: Json, members: Json = {}): ImportRecord[] =>
    Array.from({ length: ROWS }, () => ({ ...filled(typeNamed(type), base, canary), ...members }));
  const customers = make('Customer', northwind('customers')[0]);
  const customer_id = customers[0]!.id;
  const quotes = make('Quote', northwind('quotes')[0], { customer_id });
  const others = RESOURCES.map(({ list, one, members }) => {
    const named = names(members).includes('customer_id') ? { customer_id } : {};
    return [list, make(one.charAt(0).toUpperCase() + one.slice(1), northwind(list)[0], named)] as const;
  });
  return {
    ...Object.fromEntries(others),
    products: make('Product', northwind('products')[0]),
    customers,
    quotes,
    orders: make('Order', northwind('orders')[0], { customer_id, quote_id: quotes[0]!.id }),
    requests: make('Request', northwind('requests')[0], { customer_id }).map((thread) => toRecord(thread, canary)),
  };
}

/** A thread as imported: with its messages, and without their count. */
function toRecord(thread: ImportRecord, canary: () => string): ImportRecord {
  const { message_count: _count, last_message_at: _last, ...members } = thread as Json;
  const [first] = (northwind('requests')[0] as Json).messages;
  const messages = Array.from({ length: ROWS }, () => {
    const { request_id: _thread, ...message } = filled(typeNamed('Message'), first, canary);
    return message;
  });
  return { ...members, messages };
}

function canaries(organisation: string): () => string {
  let count = 0;
  return () => `zq${organisation}${String((count += 1))}x`;
}

const CANARY = /zq[a-z]+\d+x/gi;

export function canariesIn(text: string): string[] {
  return [...new Set(text.match(CANARY))];
}

/** What other organisations must not see: the canaries and ids in a value. */
export function secretsIn(value: unknown): Set<string> {
  return secretsInText(JSON.stringify(value));
}

export function secretsInText(text: string): Set<string> {
  const ids = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
  return new Set([...canariesIn(text), ...ids]);
}

function typeNamed(name: string): GraphQLObjectType {
  return graphqlSchema.getType(name) as GraphQLObjectType;
}

/** An object of a type with a canary in every text and a new id; the rest is from `base`. */
function filled(type: GraphQLObjectType, base: Json, canary: () => string): Json {
  // attachments come with their files (scene.ts)
  const fields = Object.values(type.getFields()).filter(
    ({ name, astNode }) =>
      name !== ATTACHMENTS && !directiveOf(astNode, 'access') && omittedFrom(astNode!) !== 'EVERYWHERE',
  );
  return Object.fromEntries(fields.map((field) => [field.name, filledMember(field, base?.[field.name], canary)]));
}

function filledMember(field: GraphQLField<unknown, unknown>, base: Json, canary: () => string): Json {
  if (isMetadataType(field.type)) return { [canary()]: canary() };
  const type = getNamedType(field.type);
  if (isListType(getNullableType(field.type))) {
    return (base ?? [{}]).map((item: Json) => filled(type as GraphQLObjectType, item, canary));
  }
  if (isObjectType(type)) return filled(type, base, canary);
  if (field.name === 'id') return randomUUID();
  if (type.name === 'Boolean') return base ?? false;
  const { pattern, format } = constraintOf(field);
  // a pattern that only excludes blank texts allows any canary
  if (type.name !== 'String' || (pattern !== undefined && pattern !== '\\S')) return base;
  return format === 'email' ? `${canary()}@example.com` : canary();
}
