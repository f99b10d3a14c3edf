import { ERROR_CODES, type ErrorCode } from '../../src/errors';
import type { Operation } from '../../src/schema/operations';
import type { Identity, KeyKind } from './attackScene';
import type { Answer, Json } from './client';
import type { Face } from './operations';

/** What a value that an attack changes is to its operation. */
export type Kind =
  /** Nothing: the call is as it should be. */
  | 'plain'
  /** The id of the object to read. */
  | 'object'
  /** What rows of a list must match. */
  | 'filter'
  /** Where a list goes on. */
  | 'cursor'
  /** The id of an object that a new one names. */
  | 'reference'
  /** The name in the caller's own words of an object to write. */
  | 'element'
  /** The id by which a row names another, to which the query follows. */
  | 'relation'
  /** An Idempotency-Key that was used. */
  | 'replay'
  /** A parameter that the operation does not have. */
  | 'smuggled';

interface Outcomes {
  /** Where the value is the caller's organisation's own. */
  readonly own: string;
  /** Where it is another's, or nobody's: the two must not differ. */
  readonly others: string;
  readonly malformed: string;
}

const OUTCOMES: Readonly<Record<Kind, Outcomes>> = {
  plain: { own: 'answered', others: 'answered', malformed: 'answered' },
  object: { own: 'answered', others: 'not_found', malformed: 'invalid_request' },
  filter: { own: 'rows', others: 'no rows', malformed: 'invalid_request' },
  cursor: { own: 'rows', others: 'invalid_request', malformed: 'invalid_request' },
  reference: { own: 'answered', others: 'validation_failed', malformed: 'validation_failed' },
  element: { own: 'matched', others: 'created', malformed: 'failed' },
  relation: { own: 'answered', others: 'nothing', malformed: 'nothing' },
  replay: { own: 'replayed', others: 'answered', malformed: 'invalid_request' },
  smuggled: { own: 'invalid_request', others: 'invalid_request', malformed: 'invalid_request' },
};

/** The rule: first the key, then whose the value is. Values that are `own` belong to the organisation of the key `own`. */
export function expectedOutcome(kind: Kind, key: KeyKind, identity: Identity, needsScope: boolean): string {
  if (key === 'expired' || key === 'revoked') return 'unauthenticated';
  if (key === 'plan off') return 'plan_required';
  if (key === 'scope missing' && needsScope) return 'insufficient_scope';
  if (identity === 'malformed') return OUTCOMES[kind].malformed;
  return identity === 'own' && key !== 'other organisation' ? OUTCOMES[kind].own : OUTCOMES[kind].others;
}

/** The HTTP status that goes with an outcome: on GraphQL only what concerns the whole request has one of its own. */
export function expectedStatus(face: Face, operation: Operation, outcome: string): number {
  if (face.name === 'GraphQL') {
    return outcome === 'unauthenticated' ? 401 : outcome === 'plan_required' ? 403 : 200;
  }
  return isErrorCode(outcome) ? ERROR_CODES[outcome].status : (operation.rest?.status ?? 200);
}

function isErrorCode(text: string): text is ErrorCode {
  return text in ERROR_CODES;
}

/** What came of a call, in the words of the rule. */
export function outcomeOf(kind: Kind, answer: Answer, value: Json, error: Json): string {
  if (error) return String(error.code);
  if (kind === 'replay' && answer.headers.has('idempotent-replayed')) return 'replayed';
  if (value === null || value === undefined) return 'nothing';
  if (kind === 'filter' || kind === 'cursor') return value.data.length > 0 ? 'rows' : 'no rows';
  if (kind !== 'element') return 'answered';
  const { outcome } = value.results[0];
  return outcome === 'updated' || outcome === 'unchanged' ? 'matched' : outcome;
}
