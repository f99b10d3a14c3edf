import { render } from 'preact';
import { type Answer, callOf, settings } from './api';
import { List } from './list';
import { Ago, Cell, Head, State, Table } from './parts';
import { placeOf } from './route';
import { exact } from './time';

/* Who has signed in, the latest first. */

export function membersPage() {
  const place = placeOf('members');
  const list = new List<Answer<'members'>>(() => callOf('members')('members'), draw);

  function draw(): void {
    render(
      <>
        <h1 id="members-title" tabIndex={-1}>
          Members
        </h1>
        <Table
          of={list}
          class="members"
          name="members-title"
          columns={['Name', 'Role', 'Last sign-in', 'From', 'Session']}
          none="Nobody has signed in."
        >
          {list.rows.map(({ id, name, role, last_sign_in_at: at, from, signed_in: isSignedIn }) => (
            <tr key={id}>
              <Head label="Name">
                {id === settings.user ? `${name} (you)` : name}
                <span class="quiet">{id}</span>
              </Head>
              <Cell label="Role">{role}</Cell>
              <Cell label="Last sign-in">
                <Ago at={at} />
                <span class="quiet">{exact(at)}</span>
              </Cell>
              <Cell label="From">{from}</Cell>
              <Cell label="Session">{isSignedIn ? <State of="active" words="signed in" /> : 'ended'}</Cell>
            </tr>
          ))}
        </Table>
        <p class="hint" hidden={list.value?.[0]?.has_more !== true}>
          Earlier sign-ins are not listed.
        </p>
        <p class="hint">
          Everyone who has signed in to these settings. Your identity provider or the operator of this gateway decides
          who can.
        </p>
      </>,
      place,
    );
  }

  draw();
  return { open: list.load, refresh: list.load };
}
