import { GATEWAY } from '../base';
import { type Answer, call, settings } from './api';
import { ask, Choice } from './ask';
import { Copyable, Sheet, showSecret } from './dialog';
import * as field from './keyFields';
import { inWords } from './numbers';
import type { Options } from './parts';
import { refresh } from './route';
import { exact } from './time';

/* Inviting people, revoking invitations, and ending sessions. */

type Member = Pick<Answer<'members'>['data'][number], 'id' | 'name' | 'role'>;
type Invitation = Answer<'invite'>['invitation'];
type Role = Invitation['role'];

const ROLES: Options = [
  ['member', 'Member: sees everything here, changes nothing'],
  ['admin', 'Admin: also changes keys and webhooks, and invites people'],
];

const changed = (): void => refresh('members', 'audit');

/** Makes a link for a person; for `member`, another one. */
export function invite(member?: Member): void {
  ask({
    title: member ? 'New link for this member' : 'Invite a person',
    button: 'Create link',
    asks: true,
    changed,
    Body: () => (
      <>
        {member ? (
          <p>
            For <strong>{member.name}</strong>, who was invited before.
          </p>
        ) : (
          <field.Name />
        )}
        <Choice label="Role" name="role" options={ROLES} first={member?.role ?? 'member'} />
        <p class="hint">You get a link to send to them. It signs in once, within 7 days.</p>
      </>
    ),
    of: member?.id,
    doing: (entered) => `Creating the link for ${member?.name ?? field.textOf(entered, 'name')}…`,
    doubt:
      'We couldn’t confirm that the link was created. If it is among the invitations, revoke it, since it cannot be shown again.',
    async work(entered) {
      const name = member?.name ?? field.textOf(entered, 'name');
      const answer = await call('invite', { name, role: entered.get('role') as Role });
      return () => showLink(answer);
    },
  });
}

function showLink({ url, invitation: { name, expires_at: end } }: Answer<'invite'>): void {
  // without PUBLIC_URL the gateway does not know its address, but this browser does
  const link = `${GATEWAY}/settings/sign-in${new URL(url).search}`;
  showSecret(`The link for ${name} is ready. It is shown once.`, 'Show the link', () => (
    <Sheet title="Send this link" button="I have saved it">
      <p>
        For <strong>{name}</strong>: it will not be shown again. Whoever has it can sign in, so send it as you would
        send a password.
      </p>
      <Copyable name="The link" text={link} isFirst />
      <p>It works once, until {exact(end)}.</p>
    </Sheet>
  ));
}

export function revokeInvitation({ id, name }: Invitation): void {
  ask({
    title: 'Revoke this invitation?',
    button: 'Revoke invitation',
    isDangerous: true,
    changed,
    Body: () => (
      <p>
        The link that was made for <strong>{name}</strong> no longer signs in.
      </p>
    ),
    of: id,
    doing: () => `Revoking the invitation of ${name}…`,
    doubt: 'We couldn’t confirm that it was revoked. Revoking it again does no harm.',
    async work() {
      await call('revokeInvitation', { invitation_id: id });
      return `Revoked the invitation of ${name}.`;
    },
  });
}

export function signOutMember({ id, name }: Member): void {
  ask({
    title: 'Sign out this member everywhere?',
    button: 'Sign out everywhere',
    isDangerous: true,
    changed,
    Body: () => (
      <>
        <p>
          All sessions of <strong>{name}</strong> in this organisation end, in all browsers, and links that were created
          for them and not used yet stop working.
        </p>
        <p class="hint">They can sign in again with {settings.canInvite ? 'a new link' : 'your identity provider'}.</p>
      </>
    ),
    of: id,
    doing: () => `Signing out ${name}…`,
    doubt: `We couldn’t confirm that ${name} is signed out. Trying again does no harm.`,
    async work() {
      const { sessions } = await call('signOut', { user_id: id });
      return `Signed out ${name}: ${inWords(sessions, 'session')} ended.`;
    },
  });
}
