import type { Role } from '../auth/roles';
import { type Config, gatewayUrl } from '../config';
import { AppError, notFound } from '../errors';
import type { Control } from '../organisations/control';
import { shownOnce } from '../organisations/creations';
import { signInUrl } from '../organisations/signInTokens';
import type { AdminContext } from './caller';
import { plainName } from './refusals';

/* The people of an organisation: who has signed in, who is invited, and their sessions. For a user in the sandbox, `home` is the organisation itself. */

export interface PeopleOptions {
  readonly config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT' | 'OIDC_ISSUER'>;
  readonly control: Pick<Control, 'invitations' | 'members' | 'sessions'>;
}

interface InvitationArgs {
  readonly name: string;
  readonly role: Role;
}

export function createPeopleOperations(
  { home, actor, name: created_by, once }: AdminContext,
  { config, control }: PeopleOptions,
) {
  const { invitations, members, sessions } = control;

  return {
    members: () => members.list(home),
    invitations: async () => ({ data: await invitations.list(home) }),
    async create_invitation(args: InvitationArgs) {
      // the identity provider decides who signs in, and an invitation would get around it
      if (config.OIDC_ISSUER !== undefined)
        throw new AppError('forbidden', 'People sign in with your identity provider: add them there.');
      return once(
        { organisationId: home, operation: 'create_invitation', args },
        async (noteId) => {
          const input = { organisationId: home, name: plainName(args.name, '/name'), role: args.role, created_by };
          const created = await invitations.create(input, actor, noteId);
          if (!created) throw notFound('organisation');
          return { url: signInUrl(gatewayUrl(config), created.token), invitation: created.invitation };
        },
        (id) => Promise.reject(shownOnce('invitation', id, 'revoke')),
      );
    },
    async revoke_invitation({ invitation_id }: { readonly invitation_id: string }) {
      const revoked = await invitations.revoke(home, invitation_id, actor);
      if (!revoked) throw notFound('invitation');
      return revoked;
    },
    /** Ends the sessions, links and invitations of one user, or of all. */
    async sign_out({ user_id: userId }: { readonly user_id?: string | null }) {
      const of = { organisationId: home, ...(userId != null && { userId }) };
      return { sessions: await sessions.endAll(of, actor) };
    },
  };
}
