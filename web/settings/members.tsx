import './members.css';
import { type JSX, render } from 'preact';
import { type Answer, callOf, settings } from './api';
import { invite, revokeInvitation, signOutMember } from './memberDialogs';
import { List } from './list';
import { type Item, Menu } from './menu';
import { Ago, Button, Heading, State } from './parts';
import { placeOf } from './route';
import { Cell, Head, Table } from './table';

/* Who has signed in, the latest first, and who is invited. */

type Member = Answer<'members'>['data'][number];
type Invitation = Answer<'invitations'>['data'][number];

const call = callOf('members');
const mayInvite = settings.mayChange && settings.canInvite;
/** The column of the buttons, which only admins have. */
const ACTIONS = settings.mayChange ? ['Actions'] : [];

export function membersPage() {
  const place = placeOf('members');
  const members = new List<Answer<'members'>>(() => call('members'), draw);
  const invitations = new List<Answer<'invitations'>>(() => call('invitations'), draw);

  function draw(): void {
    render(
      <>
        <Heading id="members-title" title="Members">
          {mayInvite && (
            <Button class="primary" does={() => invite()}>
              Invite a person
            </Button>
          )}
        </Heading>
        <Table
          of={members}
          class="members"
          name="members-title"
          columns={['Name', 'Role', 'Last sign-in', 'IP address', 'Session', ...ACTIONS]}
          none="Nobody has signed in."
        >
          {members.rows.map((member) => (
            <MemberRow key={member.id} of={member} />
          ))}
        </Table>
        <p class="hint" hidden={members.value?.[0]?.has_more !== true}>
          Earlier sign-ins are not listed.
        </p>
        {!settings.canInvite && <p class="hint">Your identity provider decides who can sign in.</p>}
        <section
          aria-labelledby="invitations-title"
          hidden={invitations.rows.length === 0 && invitations.failure === undefined}
        >
          <Heading as="h2" id="invitations-title" title="Invitations" />
          <Table
            of={invitations}
            class="invitations"
            name="invitations-title"
            columns={['Name', 'Role', 'Invited by', 'Link expires', ...ACTIONS]}
            none="Nobody is invited."
          >
            {invitations.rows.map((invitation) => (
              <InvitationRow key={invitation.id} of={invitation} />
            ))}
          </Table>
        </section>
      </>,
      place,
    );
  }

  draw();
  const load = async (): Promise<void> => {
    await Promise.all([members.load(), invitations.load()]);
  };
  return { open: load, refresh: load };
}

function MemberRow({ of: member }: { of: Member }): JSX.Element {
  const { id, name, role, last_sign_in_at: at, from, signed_in: isSignedIn } = member;
  const actions = actionsOf(member);
  return (
    <tr>
      <Head label="Name">
        <span>{id === settings.user ? `${name} (you)` : name}</span>
        <span class="quiet" title={id}>
          {originOf(id)}
        </span>
      </Head>
      <Cell label="Role">{ROLES[role]}</Cell>
      <Cell label="Last sign-in">
        <Ago at={at} />
      </Cell>
      <Cell label="IP address">{from}</Cell>
      <Cell label="Session">{isSignedIn ? <State of="active" words="Signed in" /> : 'Ended'}</Cell>
      {settings.mayChange && (
        <Cell label="Actions">{actions.length > 0 && <Menu label={`Actions for ${name}`} items={actions} />}</Cell>
      )}
    </tr>
  );
}

const ROLES = { admin: 'Admin', member: 'Member' };

/** How somebody came in; their id if an identity provider or the operator's product gave it. */
function originOf(id: string): string {
  if (id.startsWith('invited:')) return 'Invited';
  return id.startsWith('link:') ? 'One-time link' : id;
}

/** Nobody ends their own sessions here: the menu of their account does. */
function actionsOf(member: Member): readonly Item[] {
  const isInvited = member.id.startsWith('invited:');
  return [
    ...(isInvited && mayInvite ? [{ text: 'New link…', does: () => invite(member) }] : []),
    ...(member.id === settings.user
      ? []
      : [{ text: 'Sign out everywhere…', does: () => signOutMember(member), isDangerous: true }]),
  ];
}

function InvitationRow({ of: invitation }: { of: Invitation }): JSX.Element {
  const { name, role, created_by: by, expires_at: end } = invitation;
  return (
    <tr>
      <Head label="Name">{name}</Head>
      <Cell label="Role">{ROLES[role]}</Cell>
      <Cell label="Invited by">{by}</Cell>
      <Cell label="Link expires">
        <Ago at={end} past="now" />
      </Cell>
      {settings.mayChange && (
        <Cell label="Actions">
          <Button label={`Revoke the invitation of ${name}`} does={() => revokeInvitation(invitation)}>
            Revoke
          </Button>
        </Cell>
      )}
    </tr>
  );
}
