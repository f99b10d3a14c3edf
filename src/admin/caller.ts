import type { Organisation } from '../auth/principal';
import type { Actor } from '../organisations/auditEvents';
import type { Attempt, createCreations } from '../organisations/creations';
import { type Session, userActor } from '../organisations/sessions';

export interface AdminCaller {
  readonly organisation: Organisation;
  /**
   * Id of the organisation whose people it is about: of a user the one they signed in to, also while they are in its sandbox; of an operator the one
   * that is named, since a sandbox may have people of its own.
   */
  readonly home: string;
  readonly actor: Actor;
  /** Whether an operator of the gateway calls, and not one of the organisation's people. */
  readonly isOperator: boolean;
  /** Shown as the creator of keys, webhooks and invitations. */
  readonly name: string;
  /** The request's Idempotency-Key: repeating a creation with it creates nothing twice. */
  readonly attempt?: Attempt | undefined;
}

export interface AdminContext extends AdminCaller {
  /** Creates something once for each `attempt` (creations.ts). */
  readonly once: ReturnType<ReturnType<typeof createCreations>['onceFor']>;
}

/** A signed-in user; `from` is their network address. */
export function asUser({ organisation, home, user }: Session, from: string): AdminCaller {
  return { organisation, home, actor: userActor(user, from), isOperator: false, name: user.name };
}

/** An operator, on the command line or with an `attempt` over the API. */
export function asOperator(organisation: Organisation, actor: Actor, attempt?: Attempt): AdminCaller {
  return { organisation, home: organisation.id, actor, isOperator: true, name: actor.who, attempt };
}
