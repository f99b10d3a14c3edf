/* API keys (src/auth/keys.ts) in what visitors paste and write. Pages do not know the gateway's prefix. */

/** A whole key without its prefix; not from the letter of a JSON escape such as `\n`, whose backslash would be left. */
const WHOLE = /(?<!\\)[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/g;
/** Also one whose end was not copied, as src/auth/keys.ts knows it: with fewer characters of the secret it is no secret. */
const PASTED = /[0-9A-Za-z]{22}_[0-9A-Za-z]{8,}/;

/** JSON or other text with an ellipsis in place of each key. */
export const withoutKeys = (text: string): string => text.replace(WHOLE, '…');

/** The text to search for: that of a pasted key must not be sent, so only its last four characters are. */
export const searchable = (text: string): string => PASTED.exec(text)?.[0].slice(-4) ?? text;

/** A pasted key without quotation marks, header name and scheme, with which keys are often copied. */
export function unwrapped(text: string): string {
  const marks = /^["'`“”‘’\s]+|["'`“”‘’,\s]+$/g;
  const header = /^(?:Authorization:\s*)?(?:Bearer\s+)?/i;
  return text.replace(marks, '').replace(header, '').replace(marks, '');
}
