import type * as z from 'zod';
import { parseRange, rangeFault } from '../auth/addresses';
import { secretFrom } from '../auth/webhookSecrets';

/* Variables that are lists. Readers for zod's transform report each fault to `context`, and return the valid entries. */

/** The items of a comma-separated list, without spaces around them and without empty ones. */
export function items(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The entries of a list of secrets, which white space, commas or semicolons separate. */
const entriesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((entry) => entry !== '');

export interface OperatorToken {
  /** Who has it, for logs and the audit log. */
  readonly name: string;
  readonly secret: string;
}

/** Tokens of operators; several may share a name, as while one replaces another. Errors refer to an entry by number, since it has a secret. */
export function readTokens(text: string, context: z.RefinementCtx): readonly OperatorToken[] {
  const tokens: OperatorToken[] = [];
  const add = (message: string): void => {
    context.addIssue({ code: 'custom', message });
  };
  for (const [at, entry] of entriesOf(text).entries()) {
    const [, name, secret] = /^([a-z0-9-]{1,40})=([\x21-\x7e]+)$/.exec(entry) ?? [];
    const which = `entry ${String(at + 1)}`;
    if (name === undefined || secret === undefined)
      add(`${which} must be name=secret, where name uses a-z, 0-9 and -, and secret visible ASCII without , and ;`);
    else if (secret.length < MIN_SECRET)
      add(`the secret of ${which} must have at least ${String(MIN_SECRET)} characters; openssl rand -hex 32 makes one`);
    else if (tokens.some((other) => other.secret === secret)) add(`${which} repeats the secret of another`);
    else tokens.push({ name, secret });
  }
  return tokens;
}

/** Characters of a secret, at least: a shorter one could be guessed, or computed from one signature. */
export const MIN_SECRET = 32;

/** Secrets of the operator's webhook in the form of Standard Webhooks. Errors refer to an entry by number, since it is a secret. */
export function readWebhookSecrets(text: string, context: z.RefinementCtx): readonly Buffer[] {
  const entries = entriesOf(text);
  if (entries.length === 0 || entries.length > 2)
    context.addIssue({ code: 'custom', message: 'must be one secret, or two while one replaces the other' });
  return entries.flatMap((entry, at) => {
    const secret = secretFrom(entry);
    if (secret) return secret;
    const message = `entry ${String(at + 1)} must be whsec_ and 24 to 64 bytes in base64; echo "whsec_$(openssl rand -base64 32)" makes one`;
    context.addIssue({ code: 'custom', message });
    return [];
  });
}

/** The text without percent-encoding; undefined if that is malformed. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Headers by name (OpenTelemetry's specification of the OTLP exporter). Values are secrets, so errors do not repeat them. */
export function readHeaders(text: string, context: z.RefinementCtx): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of items(text)) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(pair) ?? [];
    const plain = value === undefined ? undefined : decoded(value.trim());
    if (name !== undefined && plain !== undefined) headers[name.toLowerCase()] = plain;
    else context.addIssue({ code: 'custom', message: 'must be name=value pairs, comma-separated, percent-encoded' });
  }
  return headers;
}

/** Ranges of addresses in CIDR notation, in one canonical form. */
export function readRanges(texts: readonly string[], context: z.RefinementCtx): readonly string[] {
  return texts.flatMap((text) => {
    const range = parseRange(text);
    if (range === undefined) context.addIssue({ code: 'custom', message: `${text} ${rangeFault(text)}` });
    return range ?? [];
  });
}
