import * as z from 'zod';
import { decoded, items } from './lists';

/* Checks of the text of a variable, as zod's schemas and as predicates. */

export const nonEmpty = z.string().min(1);
export const matching = (pattern: RegExp, message?: string): z.ZodString => z.string().regex(pattern, message);
/** Text without control characters, line breaks and spaces around it, of at most so many code points. */
export const oneLine = (most: number): z.ZodString =>
  matching(
    new RegExp(String.raw`^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,${String(most)}}(?<! )$`, 'u'),
    `must be 1 to ${String(most)} characters of one line`,
  );
export const keyPrefix = matching(/^[a-z]+(_[a-z]+)*_$/, 'must be lower-case words, each followed by _');
export const list = z.string().transform(items);

/** A whole number in decimal digits, within both bounds. */
export function wholeNumber(least: number, most: number): z.ZodType<number, string> {
  const isWithin = (text: string): boolean => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most;
  return z
    .string()
    .refine(isWithin, `must be a whole number from ${String(least)} to ${String(most)}`)
    .transform(Number);
}

/** Whether ioredis parses the URI as intended: an unencoded / or # in a password would end the host early, and it throws at an unencoded %. */
export function isRedisAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, hostname, pathname, search, hash } = new URL(text);
  return hostname !== '' && decoded(username + password) !== undefined && !`${pathname}${search}${hash}`.includes('@');
}

/** A value that a browser can send as Origin; a host with * would never match. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes('*');
}

/** An http or https URL that can be followed by a path: an origin, or one with a path of plain segments. */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, pathname } = new URL(text);
  const path = pathname === '/' ? '' : pathname;
  return /^https?:$/.test(protocol) && !text.includes('*') && /^(\/[\w.~-]+)*$/.test(path) && origin + path === text;
}

/** Origins of browser extensions and of apps in a web view, which are opaque to the URL standard. */
const APP_ORIGIN = /^(?:[a-z-]+-extension|capacitor|ionic|tauri):\/\/[\w.-]+$/;

/** An entry of CORS_ORIGINS: an origin, that of an extension or an app, or any. */
export function isAllowedOrigin(text: string): boolean {
  return text === '*' || isOrigin(text) || APP_ORIGIN.test(text);
}

/** An https URL, or an http URL on loopback. */
export function isSecureOrLocal(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname));
}

/** An http or https URL without user name and password; it may be internal, since the operator chooses it. */
export function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Where people ask for access: a page over https, or an email address. */
export function isContactUrl(text: string): boolean {
  return URL.canParse(text) && /^(https:|mailto:[^@\s]+@[^@\s]+$)/i.test(text) && !/\s/.test(text);
}

/** An http or https URL of a collector that can be followed by /v1/traces, which the exporter appends. */
export function isCollectorUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const { protocol, pathname } = new URL(text);
  return /^https?:$/.test(protocol) && !/\/v1\/traces\/*$/.test(pathname);
}
