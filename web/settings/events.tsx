import type { JSX } from 'preact';
import { settings } from './api';
import type { Event } from './csv';
import type { List, Page } from './list';
import { Ago, Cell, Table } from './parts';
import { exact } from './time';

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
      columns={['When', 'What', 'Who', 'From', 'Details']}
      none={none}
      more="Show older events"
    >
      {list.rows.map((event) => (
        <tr key={event.id}>
          <Cell label="When">
            <Ago at={event.at} />
          </Cell>
          <Cell label="What">{settings.actions[event.action] ?? event.action}</Cell>
          <Cell label="Who">
            <span title={event.actor}>{event.actor_name ?? event.actor}</span>
          </Cell>
          <Cell label="From">{event.from}</Cell>
          <Cell label="Details">
            <span class="details">{inWords(JSON.parse(event.details) as Details)}</span>
          </Cell>
        </tr>
      ))}
    </Table>
  );
}

type Details = Readonly<Record<string, unknown>>;

/** `name: nightly · scopes: quotes:read`, without members that are not set; of changes `mcp: read → off`. */
function inWords(given: Details): string {
  const { from, to, ...rest } = given;
  const isChange = isObject(from) && isObject(to);
  const others = Object.entries(isChange ? rest : given).filter(([, value]) => value !== null && !isEmpty(value));
  const changes = isChange
    ? Object.keys(to).map((name) => `${label(name)}: ${side(name, from[name])} → ${side(name, to[name])}`)
    : [];
  return [...others.map(([name, value]) => `${label(name)}: ${valueInWords(value)}`), ...changes].join(' · ');
}

const isObject = (value: unknown): value is Details => typeof value === 'object' && value !== null;
const label = (name: string): string => name.replaceAll('_', ' ');
const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** What it means that a member is not set. */
const UNSET: Readonly<Record<string, string>> = { expires_at: 'never', allowed_ranges: 'anywhere' };

/** One side of a change. */
function side(name: string, value: unknown): string {
  return value === undefined || value === null || isEmpty(value) ? (UNSET[name] ?? 'none') : valueInWords(value);
}

function valueInWords(value: unknown): string {
  // as an expiry that was never, in what changed
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.map(valueInWords).join(', ');
  // as of the key that was rotated: its name and what is shown of it
  if (isObject(value)) return Object.values(value).map(valueInWords).join(' ');
  return typeof value === 'string' && TIME.test(value) ? exact(value) : `${value as string | number}`;
}
