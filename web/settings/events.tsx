import { Fragment, type JSX } from 'preact';
import type { Event } from './csv';
import type { List, Page } from './list';
import { Ago, Cell, Head, Table } from './parts';
import { partsOf } from './sentences';

/* Events of the audit log, newest first. */

interface EventTableProps {
  readonly of: List<Page & { readonly data: readonly Event[] }>;
  /** Id of the heading. */
  readonly name: string;
  readonly none: string;
}

export function EventTable({ of: list, name, none }: EventTableProps): JSX.Element {
  return (
    <Table
      of={list}
      class="audit"
      name={name}
      columns={['When', 'What', 'Who', 'From']}
      none={none}
      more="Show older events"
    >
      {list.rows.map((event) => (
        <tr key={event.id}>
          <Cell label="When">
            <Ago at={event.last_at} />
            {event.times > 1 && <span class="quiet"> {event.times} times</span>}
          </Cell>
          <Head label="What">
            {partsOf(event).map((part, at) => (
              <Fragment key={at}>{part}</Fragment>
            ))}
          </Head>
          <Cell label="Who">
            <span title={event.actor}>{event.actor_name ?? event.actor}</span>
          </Cell>
          <Cell label="From">{event.from}</Cell>
        </tr>
      ))}
    </Table>
  );
}
