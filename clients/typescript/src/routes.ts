import type { components, paths } from './openapi.js';

/* The parameters and results of each route, from the types of the OpenAPI document. */

/** The types of the API's objects: `Schemas['Order']`. */
export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'patch';
type Json<T> = T extends { content: { 'application/json': infer V } } ? V : never;

/** The routes of files, whose bodies are not JSON: call them with `fetch`. */
type OfFiles = `${string}/attachments` | `${string}/attachments/{attachment_id}`;

/** The paths that have a method: `Path<'patch'>`. */
export type Path<M extends Method> = {
  [P in Exclude<keyof paths, OfFiles>]: paths[P][M] extends { responses: unknown } ? P : never;
}[Exclude<keyof paths, OfFiles>];

/** What a route returns: `Result<'get', '/me'>`. */
export type Result<M extends Method, P extends keyof paths> = paths[P][M] extends { responses: infer R }
  ? Json<R[keyof R & (200 | 201)]>
  : never;

/** The body of a write: `Body<'post', '/products/bulk'>`. */
export type Body<M extends Method, P extends keyof paths> = paths[P][M] extends { requestBody: infer B }
  ? Json<B>
  : never;

/** An object of a list: `Row<'/orders'>`. `never` for the feed of events, which has no last page. */
export type Row<P extends Path<'get'>> =
  Result<'get', P> extends { data: (infer R)[]; next_cursor: infer C } ? (null extends C ? R : never) : never;

/** The paths of lists. */
export type ListPath = { [P in Path<'get'>]: Row<P> extends never ? never : P }[Path<'get'>];

export interface CallOptions {
  /** Aborts the call and its retries; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Generated for each call by default. Store your own before the call if a restart must not repeat the write. */
  readonly idempotencyKey?: string | undefined;
  /** For a PATCH, the `etag` of the object as read: 412 if it has changed since. */
  readonly ifMatch?: string | undefined;
}

type Parameters<O> = O extends { parameters: { path?: unknown; query?: unknown } }
  ? Pick<O['parameters'], 'path' | 'query'>
  : never;

/** The filters of a read: `Query<'/orders'>`. */
export type Query<P extends Path<'get'>> = NonNullable<Parameters<paths[P]['get']>['query']>;

/** The options of a read. */
export type Reading<P extends Path<'get'>> = Parameters<paths[P]['get']> & CallOptions;

/** The options of a write. */
export type Writing<M extends 'post' | 'patch', P extends Path<M>> = Parameters<paths[P][M]> &
  WriteOptions & { readonly body: Body<M, P> };

/** The last argument, optional if nothing in it is required. */
export type Last<T> = object extends T ? [options?: T] : [options: T];
