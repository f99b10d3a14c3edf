import { GATEWAY } from '../base';
import { newUuid } from '../samples.js';
import type { Operation } from './system';

/* The request that “Send request” sends and the samples show. */

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
const READS = ['get', 'head', 'options'];

type Value = string | number | boolean;

export interface Entered {
  /** Under `query.limit` and the like. */
  readonly parameters: Readonly<Record<string, Value | readonly Value[]>>;
  readonly body?: string | undefined;
}

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request without key and default values, the names of missing parameters, and whether it takes an Idempotency-Key but has none. */
export function requestOf({ parameters = [], requestBody }: Operation, path: string, method: string, entered: Entered) {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const lacking: string[] = [];
  let filled = path;
  for (const { name, in: place, required, schema } of parameters) {
    const value = entered.parameters[`${place}.${name}`] ?? '';
    if (required && value === '') lacking.push(name);
    if (value === '' || String(value) === String(schema?.default)) continue;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (place === 'header') headers[name] = String(value);
    else for (const element of [value].flat()) query.append(name, String(element));
  }
  const example = requestBody?.content?.['application/json']?.example;
  const body = entered.body ?? (example === undefined ? undefined : JSON.stringify(example, null, 2));
  const url = `${GATEWAY}/api/v1${filled}${query.size > 0 ? `?${query.toString()}` : ''}`;
  const request: SampleRequest = { method: method.toUpperCase(), url, headers, body };
  const isRetried = headers[IDEMPOTENCY_KEY] === undefined && parameters.some(({ name }) => name === IDEMPOTENCY_KEY);
  return { request, lacking, isRetried };
}

/** A request interceptor that gives each write a new Idempotency-Key, unless the visitor entered one. */
export function withIdempotencyKey<R extends { method: string; headers: Record<string, string> }>(request: R): R {
  if (!READS.includes(request.method.toLowerCase())) request.headers[IDEMPOTENCY_KEY] ??= newUuid();
  return request;
}

/** Whether a write would send the unchanged example. */
export function isExample({ requestBody }: Operation, method: string, body: string | undefined): boolean {
  if (READS.includes(method)) return false;
  const example = requestBody?.content?.['application/json']?.example;
  if (example === undefined || body === undefined) return true;
  try {
    return canonical(JSON.parse(body)) === canonical(example);
  } catch {
    return false;
  }
}

/** JSON with the members of objects in one order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
