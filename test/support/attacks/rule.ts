import { ERROR_CODES, type ErrorCode } from '../../../src/errors';
import type { Operation } from '../../../src/schema/declaredOperations';
import type { Identity, KeyKind } from './scene';
import type { Answer, Json } from '../client';
import type { Face } from '../operations';

/** What the attacked value means to its operation. */
export type Kind =
  /** Nothing; the call is regular. */
  | 'plain'
  /** The id of the object to read. */
  | 'object'
  /** A filter of a list. */
  | 'filter'
  /** A cursor of a list. */
  | 'cursor'
  /** The id of an object that a new one refers to. */
  | 'reference'
  /** The external key of an object to write. */
  | 'element'
  /** The id in a row that a relation follows. */
  | 'relation'
  /** An Idempotency-Key that has been used. */
  | 'replay'
  /** A parameter that the operation does not have. */
  | 'smuggled';

interface Outcomes {
  /** If the value belongs to the caller's organisation. */
  readonly own: string;
  /** If it belongs to another organisation or does not exist, which must not differ. */
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

/** The rule: first the key decides, then the owner of the value. `own` values belong to the organisation of the key `own`. */
export function expectedOutcome(kind: Kind, key: KeyKind, identity: Identity, needsScope: boolean): string {
  if (key === 'expired' || key === 'revoked') return 'unauthenticated';
  if (key === 'plan off') return 'plan_required';
  if (key === 'suspended') return 'organisation_suspended';
  if (key === 'scope missing' && needsScope) return 'insufficient_scope';
  if (identity === 'malformed') return OUTCOMES[kind].malformed;
  return identity === 'own' && key !== 'other organisation' ? OUTCOMES[kind].own : OUTCOMES[kind].others;
}

/** Outcomes that reject a whole GraphQL request. */
const WHOLE_REQUEST: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  plan_required: 403,
  organisation_suspended: 403,
};

/** The HTTP status of an outcome; in GraphQL and MCP only errors of the whole request have their own status. */
export function expectedStatus(face: Face, operation: Operation, outcome: string): number {
  if (face.name !== 'REST') {
    return WHOLE_REQUEST[outcome] ?? 200;
  }
  return isErrorCode(outcome) ? ERROR_CODES[outcome].status : (operation.rest?.status ?? 200);
}

function isErrorCode(text: string): text is ErrorCode {
  return text in ERROR_CODES;
}

/** The outcome of a call, in the terms of the rule. */
export function outcomeOf(kind: Kind, answer: Answer, value: Json, error: Json): string {
  if (error) return String(error.code);
  if (kind === 'replay' && answer.headers.has('idempotent-replayed')) return 'replayed';
  if (value === null || value === undefined) return 'nothing';
  if (kind === 'filter' || kind === 'cursor') return value.data.length > 0 ? 'rows' : 'no rows';
  if (kind !== 'element') return 'answered';
  const { outcome } = value.results[0];
  return outcome === 'updated' || outcome === 'unchanged' ? 'matched' : outcome;
}
