import './events.css';
import { Fragment, type JSX } from 'preact';
import type { Event } from './csv';
import type { List, Page } from './list';
import { type Options } from './parts';
import { type Change, changesOf, partsOf } from './sentences';
import { Cell, Head, Table } from './table';
import { clockOf, dayInWords, exact } from './time';

/* Events of the audit log, newest first, by day. */

interface EventTableProps {
  readonly of: List<Page & { readonly data: readonly Event[] }>;
  /** Id of the heading. */
  readonly name: string;
  readonly none: string | JSX.Element;
}

/** Who acts, beside people. */
export const OTHERS: Options = [
  ['operator', 'Operator'],
  ['cli', 'Command line'],
  ['system', 'Gateway'],
];

const COLUMNS = ['Time', 'What', 'Who', 'From'];

export function EventTable({ of: list, name, none }: EventTableProps): JSX.Element {
  return (
    <Table of={list} class="audit" name={name} columns={COLUMNS} none={none} more="Show older events">
      {list.rows.map((event, index) => {
        const day = dayInWords(event.at);
        const before = list.rows[index - 1];
        return (
          <Fragment key={event.id}>
            {(!before || dayInWords(before.at) !== day) && (
              <tr class="day">
                <td colSpan={COLUMNS.length}>{day}</td>
              </tr>
            )}
            <Row of={event} />
          </Fragment>
        );
      })}
    </Table>
  );
}

function Row({ of: event }: { of: Event }): JSX.Element {
  const { at, last_at: last, times, actor, actor_name: name, from } = event;
  return (
    <tr>
      <Cell label="Time">
        <time dateTime={at} title={exact(at)}>
          {clockOf(at)}
        </time>
        {times > 1 && (
          <span class="quiet">
            {times} times until {clockOf(last)}
          </span>
        )}
      </Cell>
      <Head label="What">
        {partsOf(event)}
        <Changes of={changesOf(event)} />
      </Head>
      <Cell label="Who">
        <span title={actor}>{name ?? <Other of={actor} />}</span>
      </Cell>
      <Cell label="From">{from}</Cell>
    </tr>
  );
}

/** Who acts if it is not one of the organisation's people: their names are the operator's own. A tag, since a person may be named “Operator”, too. */
function Other({ of: actor }: { of: string }): JSX.Element {
  const [kind = ''] = actor.split(':');
  const words = OTHERS.find(([value]) => value === kind)?.[1];
  return words === undefined ? <>{actor}</> : <span class="tag">{words}</span>;
}

function Changes({ of: changes }: { of: readonly Change[] }): JSX.Element | null {
  if (changes.length === 0) return null;
  return (
    <ul class="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {name}: {before !== '' && <del>{before}</del>} {after !== '' && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
}
