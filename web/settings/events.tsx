import { Fragment, type ComponentChildren, type JSX } from 'preact';
import { settings } from './api';
import type { Event } from './csv';
import type { List, Page } from './list';
import { Ago, Cell, Head, Table } from './parts';
import { shownId } from './route';
import { scopesInWords } from './scopes';
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
      columns={['When', 'What', 'Who', 'From']}
      none={none}
      more="Show older events"
    >
      {list.rows.map((event) => (
        <tr key={event.id}>
          <Cell label="When">
            <Ago at={event.at} />
          </Cell>
          <Head label="What">
            <Sentence of={event} />
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

type Details = Readonly<Record<string, unknown>>;

/** What was done, to what. */
function Sentence({ of: { action, key_id: id, details: text } }: { of: Event }): JSX.Element {
  const details = JSON.parse(text) as Details;
  const parts = SENTENCES[action]?.(details, id) ?? [settings.actions[action] ?? action, others(details)];
  return (
    <>
      {parts.map((part, at) => (
        <Fragment key={at}>{part}</Fragment>
      ))}
    </>
  );
}

type Parts = readonly ComponentChildren[];

const SENTENCES: Readonly<Record<string, ((of: Details, keyId: string | null) => Parts) | undefined>> = {
  'key.created': (of, id) => ['Created ', keyOf(of, id), ` with ${scopesOf(of)}`, limitsOf(of)],
  'key.updated': (of, id) => ['Changed ', keyOf(of, id), `: ${changesIn(of)}`],
  'key.rotated': ({ from, old_expires_at: end, ...of }, id) => [
    'Rotated ',
    keyOf(isObject(from) ? from : of, id),
    `; the old key works until ${valueInWords(end)}, the new one has ${scopesOf(of)}`,
    limitsOf(of),
  ],
  'key.revoked': (of, id) => ['Revoked ', keyOf(of, id)],
  'keys.imported': ({ keys }) => [`Imported ${Array.isArray(keys) ? keys.length : 0} keys`],
  'webhook.created': (of) => ['Added the endpoint ', urlOf(of), ` for ${typesOf(of)}`],
  'webhook.updated': (of) => ['Changed the endpoint ', urlOf(of), 'types' in of ? ` to ${typesOf(of)}` : ''],
  'webhook.rotated': (of) => ['Rotated the secret of the endpoint ', urlOf(of)],
  'webhook.enabled': (of) => ['Enabled the endpoint ', urlOf(of), ` from ${valueInWords(of.from)}`],
  'webhook.disabled': (of) => [
    'Disabled the endpoint ',
    urlOf(of),
    `: ${valueInWords(of.reason).replaceAll('_', ' ')}`,
  ],
  'webhook.deleted': (of) => ['Deleted the endpoint ', urlOf(of)],
  'organisation.created': ({ name, plan, currency }) => [
    'Created the organisation ',
    named(name),
    ` with the plan ${valueInWords(plan)} and the currency ${valueInWords(currency)}`,
  ],
  'organisation.renamed': ({ from, to }) => [`Renamed the organisation from ${valueInWords(from)} to `, named(to)],
  'organisation.plan_changed': ({ from, to }) => [`Changed the plan from ${valueInWords(from)} to `, named(to)],
  'link.created': ({ user, role, ends_at: end }) => [
    `Created a sign-in link for ${valueInWords(user).replace(/^link:/, '')} as ${valueInWords(role)}, valid until ${valueInWords(end)}`,
  ],
  'user.signed_in': ({ role }) => [`Signed in as ${valueInWords(role)}`],
  'user.signed_out': (of) => ['Signed out', others(of)],
};

const named = (name: unknown): JSX.Element => <strong>{valueInWords(name)}</strong>;
const urlOf = ({ url, endpoint }: Details): JSX.Element => <span class="url">{named(url ?? endpoint)}</span>;
const scopesOf = ({ scopes }: Details): string => scopesInWords(Array.isArray(scopes) ? scopes : [], Infinity);

function keyOf({ name, prefix, last_four: end }: Details, id: string | null): JSX.Element {
  const title = `${valueInWords(prefix)}…${valueInWords(end)}`;
  if (id === null || id === shownId()) return named(name);
  return (
    <a href={`/settings/keys/${id}`} title={title}>
      {valueInWords(name)}
    </a>
  );
}

/** From where and until when a key works, and what assistants may do with it. */
function limitsOf({ allowed_ranges: ranges, expires_at: end, mcp }: Details): string {
  const from = isEmpty(ranges) || !ranges ? [] : [`from ${valueInWords(ranges)}`];
  const until = end ? [`until ${valueInWords(end)}`] : [];
  const assistants = mcp === undefined ? [] : [mcp === 'off' ? 'not over MCP' : `${valueInWords(mcp)} over MCP`];
  return [...from, ...until, ...assistants].map((part) => `, ${part}`).join('');
}

function typesOf({ types }: Details): string {
  return isEmpty(types) ? 'all events' : valueInWords(types);
}

/** `mcp: read → off` */
function changesIn({ from, to }: Details): string {
  if (!isObject(from) || !isObject(to)) return '';
  return Object.keys(to)
    .map((name) => `${label(name)}: ${side(name, from[name])} → ${side(name, to[name])}`)
    .join(' · ');
}

/** `: customer id: …`, without members that are not set. */
function others(given: Details): string {
  const set = Object.entries(given).filter(([, value]) => value !== null && !isEmpty(value));
  return set.length === 0
    ? ''
    : `: ${set.map(([name, value]) => `${label(name)}: ${valueInWords(value)}`).join(' · ')}`;
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
