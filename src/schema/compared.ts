/**
 * Members by which callers name objects. They are kept and compared in Unicode's NFC, so that an é of one code point and
 * one of two are the same key; case and white space are kept as sent.
 */
export const COMPARED: readonly string[] = ['sku', 'external_ref'];

/** A text as it is kept and compared. */
export function comparable(text: string): string {
  return text.normalize('NFC');
}

/** Arguments with what is compared in the spelling that is kept: its length is measured in that, as an element's is. */
export function inKeptSpelling(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const respelt = COMPARED.filter((name) => name in args).map((name) => [name, respell(args[name])] as const);
  return respelt.length === 0 ? args : { ...args, ...Object.fromEntries(respelt) };
}

function respell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(respell);
  return typeof value === 'string' ? comparable(value) : value;
}
