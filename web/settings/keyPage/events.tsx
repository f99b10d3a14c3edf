import { render } from 'preact';
import { type Answer, call } from '../api';
import { byId } from '../dom';
import { EventTable } from '../events';
import { List } from '../list';

/* The audit events of one key, newest first. */

const place = byId('key-events');
let keyId = '';
const list = new List<Answer<'keyEvents'>>((cursor) => call('keyEvents', { key_id: keyId, cursor }), draw);

/** Shows the newest events of a key; undefined leaves them. */
export async function openEvents(id: string | undefined): Promise<void> {
  if (id !== keyId) list.clear();
  keyId = id ?? '';
  if (id !== undefined) await list.load();
}

function draw(): void {
  const none = 'Nothing yet. If it replaced another key, that is in the audit log of the other one.';
  render(
    <>
      <div class="heading">
        <h2 id="key-events-title" tabIndex={-1}>
          Audit log of this key
        </h2>
      </div>
      <EventTable of={list} name="key-events-title" none={none} />
    </>,
    place,
  );
}
