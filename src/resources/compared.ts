/**
 * Members by which callers name objects. They are kept and compared in Unicode's NFC, so that an é of one code point and
 * one of two are the same key; case and white space are kept as sent.
 */
export const COMPARED: readonly string[] = ['sku', 'external_ref'];

/** A text as it is kept and compared. */
export function comparable(text: string): string {
  return text.normalize('NFC');
}
