import type { RequestContext } from '../operations/context';
import type { AppError } from '../errors';
import type { LargePart } from '../admission/turns';
import type { Streaming } from './streams/subscribe';

/** The resolver context with additions for GraphQL. Root fields never run without a caller. */
export interface GraphqlContext extends RequestContext {
  /** The context of a key or user; undefined for callers who can only introspect. */
  readonly caller: RequestContext | undefined;
  /** Called with its root fields, and whether they are writes. */
  readonly onOperation: (fields: readonly string[], isWrite: boolean) => void;
  /** Called with the code of the first error of an answer that is written with its errors. */
  readonly onErrors: (code: string) => void;
  /** Called with each error, as it is shown and as it was thrown, that says why something is unavailable. */
  readonly onUnavailable: (known: AppError, error: unknown) => void;
  /** For a request with a key that takes a stream as its answer. */
  readonly streaming?: Streaming | undefined;
  /** Waits for the request's turn among the large ones of its organisation. @throws AppError unavailable */
  readonly takeTurn: (part: LargePart) => Promise<void>;
}
