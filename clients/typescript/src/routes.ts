import type { components, paths } from './openapi.js';

/*
 * The parameters and results of each route, from the types of an OpenAPI document. `T` are its paths: ours, or those that openapi-typescript
 * wrote for a gateway with a schema of its own.
 */

/** The types of the API's objects: `Schemas['Order']`. */
export type Schemas = components['schemas'];

type Method = 'get' | 'post' | 'patch';
type Json<R> = R extends { content: { 'application/json': infer V } } ? V : never;
type Operation<M extends Method, P extends keyof T, T extends object> = M extends keyof T[P] ? T[P][M] : undefined;

/** The routes of files, whose bodies are not JSON: call them with `fetch`. */
type OfFiles = `${string}/attachments` | `${string}/attachments/{attachment_id}`;
type Paths<T extends object> = Exclude<keyof T & string, OfFiles>;

/** The paths that have a method: `Path<'patch'>`. */
export type Path<M extends Method, T extends object = paths> = {
  [P in Paths<T>]: Operation<M, P, T> extends { responses: unknown } ? P : never;
}[Paths<T>];

/** What a route returns: `Result<'get', '/me'>`. */
export type Result<M extends Method, P extends keyof T, T extends object = paths> =
  Operation<M, P, T> extends { responses: infer R } ? Json<R[keyof R & (200 | 201)]> : never;

/** The body of a write: `Body<'post', '/products/bulk'>`. */
export type Body<M extends Method, P extends keyof T, T extends object = paths> =
  Operation<M, P, T> extends { requestBody: infer B } ? Json<B> : never;

/** An object of a list: `Row<'/orders'>`. `never` for the feed of events, which has no last page. */
export type Row<P extends Path<'get', T>, T extends object = paths> =
  Result<'get', P, T> extends { data: (infer R)[]; next_cursor: infer C } ? (null extends C ? R : never) : never;

/** The paths of lists. */
export type ListPath<T extends object> = {
  [P in Path<'get', T>]: Row<P, T> extends never ? never : P;
}[Path<'get', T>];

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
export type Query<P extends Path<'get', T>, T extends object = paths> = NonNullable<
  Parameters<Operation<'get', P, T>>['query']
>;

/** The options of a read. */
export type Reading<P extends Path<'get', T>, T extends object> = Parameters<Operation<'get', P, T>> & CallOptions;

/** The options of a write. */
export type Writing<M extends 'post' | 'patch', P extends Path<M, T>, T extends object> = Parameters<
  Operation<M, P, T>
> &
  WriteOptions & { readonly body: Body<M, P, T> };

/** The last argument, optional if nothing in it is required. */
export type Last<O> = object extends O ? [options?: O] : [options: O];
