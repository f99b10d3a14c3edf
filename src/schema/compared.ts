import { publishedUpserts } from './upserts';

/**
 * Members that are the callers' keys of objects, by which bulk calls match them. They are stored and compared in Unicode NFC, so that
 * an é of one code point and an é of two are the same key; case and white space are significant.
 */
export function isCompared(member: string): boolean {
  return comparedMembers().includes(member);
}

let compared: readonly string[] | undefined;

function comparedMembers(): readonly string[] {
  return (compared ??= [...new Set(publishedUpserts().map(({ key }) => key))]);
}

/** Normalises a string for storing and comparing. */
export function comparable(text: string): string {
  return text.normalize('NFC');
}

/** Normalises the keys in arguments, so that their length is checked after normalisation, as in elements. */
export function inKeptSpelling(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = comparedMembers().filter((name) => name in args);
  const respelt = given.map((name) => [name, respell(args[name])] as const);
  return respelt.length === 0 ? args : { ...args, ...Object.fromEntries(respelt) };
}

function respell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respell);
  return typeof value === 'string' ? comparable(value) : value;
}
