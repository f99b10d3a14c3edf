import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { collections } from '../src/resources';
import { published } from '../src/schema/model';
import type { StoredMember } from '../src/schema/storedTypes';
import { fromRecord } from '../src/stored/records';
import type { Resource } from '../src/stored/resource';
import { ROOT } from './facts';

/* The generated part of docs/stored.md: each collection with its members, what must be there, and an example. */

export function storedCollections(): string {
  return ['\n', ...collections.map(section)].join('\n');
}

function section(resource: Resource): string {
  const { name, stored, indexes } = resource;
  const unique = indexes.flatMap(({ on, options }) => (options?.unique ? Object.keys(on) : []));
  const about = [
    `Objects of the type \`${stored.type}\`.`,
    ...unique.map((member) => `No two rows have the same \`${member}\`${unlessRequired(resource, member)}.`),
    ...(hasWords(stored.members) ? ['`q` finds them by `search`, the words of the members marked ✱.'] : []),
  ];
  return [
    `### ${name}\n`,
    `${about.join(' ')}\n`,
    '| member | BSON type | must be there | |',
    '|---|---|---|---|',
    ...stored.members.flatMap((member) => rowsOf(resource, stored.type, member)),
    `\n\`\`\`json\n${example(resource)}\n\`\`\`\n`,
  ].join('\n');
}

function unlessRequired({ stored }: Resource, name: string): string {
  return stored.members.find((member) => member.name === name)?.isRequired ? '' : ', if they have one';
}

function hasWords(members: readonly StoredMember[]): boolean {
  return members.some(({ isSearchable, members: inner }) => isSearchable || hasWords(inner));
}

function rowsOf(resource: Resource, type: string, member: StoredMember, prefix = ''): string[] {
  const { name, isRequired, isList, isSearchable, members } = member;
  const path = prefix + (prefix === '' && name === 'id' ? '_id' : name);
  const must = resource.computed.includes(path) ? 'the gateway' : isRequired ? 'yes' : '';
  const text = published.fieldsOf(type).find((field) => field.name.value === name)?.description?.value ?? '';
  const words = text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  return [
    `| \`${path}\`${isSearchable ? ' ✱' : ''} | ${bsonTypeOf(member, prefix === '')} | ${must} | ${words} |`,
    ...members.flatMap((inner) => rowsOf(resource, member.type, inner, `${path}${isList ? '[]' : ''}.`)),
  ];
}

const SCALARS: Readonly<Record<string, string>> = {
  ID: 'string, a UUID in lower case',
  String: 'string',
  Date: 'string, as in `2026-01-31`',
  DateTime: 'date',
  Minor: 'int, long or double; a whole number',
  Int: 'int, long or double; a whole number of 32 bits',
  Float: 'double, int or long',
  Boolean: 'bool',
};

function bsonTypeOf({ type, kind, values, isList }: StoredMember, isOfRow: boolean): string {
  const valueType =
    kind === 'object' ? 'object' : values ? values.map((value) => `\`${value}\``).join(', ') : (SCALARS[type] ?? type);
  if (isList) return kind === 'object' ? 'array of objects' : `array of ${valueType}`;
  // inside objects other programs may have ids of any form, as nothing is found by them
  return type === 'ID' && !isOfRow ? 'string' : valueType;
}

/** A row as MongoDB's Extended JSON. */
function example(resource: Resource): string {
  const { name, stored } = resource;
  const text = readFileSync(join(ROOT, 'schema', 'examples', `${name}.json`), 'utf8');
  const record = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const row = fromRecord(record, stored);
  const whole = hasWords(stored.members) ? { ...row, search: resource.words(row) } : row;
  return mongoose.mongo.BSON.EJSON.stringify(whole, undefined, 2, { relaxed: true });
}
