import type { ComponentChildren, JSX } from 'preact';
import type { ShownAction } from '../../src/organisations/auditEvents';
import type { Event } from './csv';
import { customersInWords, scopesInWords } from './keyNames';
import { counted } from './numbers';
import { shownId } from './route';
import { exact } from './time';

/* What the audit log says about each event. */

type Details = Readonly<Record<string, unknown>>;
type Parts = readonly ComponentChildren[];
type EventWords = readonly [name: string, sentence: (of: Details, keyId: string | null) => Parts];

/** The name of each kind of event, and the sentence about one. If an event that people are shown is missing here, this does not compile. */
export const EVENTS: Readonly<Record<ShownAction, EventWords>> = {
  'organisation.created': [
    'Organisation created',
    ({ name, plan, currency, sandbox_of: of }) => [
      `Created the ${of === undefined ? 'organisation' : 'sandbox'} `,
      named(name),
      ` with the plan ${valueInWords(plan)} and the currency ${valueInWords(currency)}`,
    ],
  ],
  'organisation.renamed': [
    'Organisation renamed',
    ({ from, to }) => [`Renamed the organisation from ${valueInWords(from)} to `, named(to)],
  ],
  'organisation.plan_changed': [
    'Plan changed',
    ({ from, to }) => [`Changed the plan from ${valueInWords(from)} to `, named(to)],
  ],
  'organisation.suspended': ['Organisation suspended', () => ['Suspended the organisation']],
  'organisation.resumed': ['Organisation resumed', () => ['Resumed the organisation']],
  'organisation.restored': ['Organisation restored', () => ['Restored the organisation from an export']],
  'sandbox.created': ['Sandbox made', ({ name }) => ['Created the sandbox ', named(name)]],
  'sandbox.reset': ['Sandbox emptied', () => ['Emptied the sandbox']],
  'objects.written': ['Objects written', (counts) => ['Wrote objects', others(counts)]],
  'customer.erased': [
    'Customer erased',
    ({ customer_id: id, ...changed }) => ['Erased the personal data of customer ', named(id), others(changed)],
  ],
  'customer.readmitted': [
    'Customer readmitted',
    ({ customer_id: id }) => ['Allowed data of customer ', named(id), ' to be written again'],
  ],
  'key.created': ['Key created', (of, id) => ['Created ', keyOf(of, id), ` with ${scopesOf(of)}`, limitsOf(of)]],
  'key.updated': ['Key changed', (of, id) => ['Changed ', keyOf(of, id)]],
  'key.rotated': [
    'Key rotated',
    ({ from, old_expires_at: end, ...of }, id) => [
      'Rotated ',
      keyOf(isObject(from) ? from : of, id),
      `; the old key works until ${valueInWords(end)}, the new one has ${scopesOf(of)}`,
      limitsOf(of),
    ],
  ],
  'key.revoked': ['Key revoked', (of, id) => ['Revoked ', keyOf(of, id)]],
  'keys.imported': [
    'Keys imported',
    ({ keys }) => [`Imported ${counted(Array.isArray(keys) ? keys.length : 0, 'key')}`],
  ],
  'webhook.created': [
    'Webhook endpoint added',
    (of) => ['Added the endpoint ', urlOf(of), ` for ${typesOf(of)}${customersOf(of)}`],
  ],
  'webhook.updated': [
    'Webhook endpoint changed',
    // events of earlier versions do not say what was before
    (of) => ['Changed the endpoint ', urlOf(of), 'types' in of && !('from' in of) ? ` to ${typesOf(of)}` : ''],
  ],
  'webhook.rotated': ['Webhook secret rotated', (of) => ['Rotated the secret of the endpoint ', urlOf(of)]],
  'webhook.enabled': [
    'Webhook endpoint enabled',
    (of) => ['Enabled the endpoint ', urlOf(of), ` from ${valueInWords(of.from)}`],
  ],
  'webhook.disabled': [
    'Webhook endpoint disabled',
    (of) => ['Disabled the endpoint ', urlOf(of), `: ${label(valueInWords(of.reason))}`],
  ],
  'webhook.deleted': ['Webhook endpoint deleted', (of) => ['Deleted the endpoint ', urlOf(of)]],
  'invitation.created': [
    'Person invited',
    ({ user, role, ends_at: end }) => [
      'Invited ',
      named(userOf(user)),
      ` as ${valueInWords(role)}, until ${valueInWords(end)}`,
    ],
  ],
  'invitation.accepted': ['Invitation accepted', ({ invited_by: by }) => ['Accepted the invitation of ', named(by)]],
  'invitation.revoked': [
    'Invitation revoked',
    ({ user, role }) => ['Revoked the invitation of ', named(userOf(user)), ` as ${valueInWords(role)}`],
  ],
  'link.created': [
    'Sign-in link created',
    ({ user, role, ends_at: end }) => [
      `Created a sign-in link for ${userOf(user)} as ${valueInWords(role)}, valid until ${valueInWords(end)}`,
    ],
  ],
  'user.signed_in': ['Signed in', ({ role }) => [`Signed in as ${valueInWords(role)}`]],
  'user.signed_out': [
    'Signed out',
    ({ everywhere: user, sessions }) => [
      user === undefined
        ? 'Signed out'
        : `Signed ${userOf(user)} out everywhere: ended ${counted(Number(sessions), 'session')}`,
    ],
  ],
};

/** What was done, and to what. An event of a later version of the gateway is shown with its details. */
export function partsOf({ action, key_id: id, details: text }: Event): Parts {
  const details = JSON.parse(text) as Details;
  const words = (EVENTS as Readonly<Partial<Record<string, EventWords>>>)[action];
  return words ? words[1](details, id) : [action, others(details)];
}

const named = (name: unknown): JSX.Element => <strong>{valueInWords(name)}</strong>;
const userOf = (user: unknown): string => valueInWords(user).replace(/^(link|invited):/, '');
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

/** Of which customers, for which app, from where and until when a key works, and what assistants may do with it. */
function limitsOf({ allowed_ranges: ranges, expires_at: end, mcp, app, customer_ids: ids }: Details): string {
  const customers = Array.isArray(ids) ? [`of ${customersInWords(ids as string[])}`] : [];
  const host = isObject(app) ? [`for the app at ${valueInWords(app.host)}`] : [];
  const from = isEmpty(ranges) || !ranges ? [] : [`from ${valueInWords(ranges)}`];
  const until = end ? [`until ${valueInWords(end)}`] : [];
  const assistants = mcp === undefined ? [] : [mcp === 'off' ? 'not over MCP' : `${valueInWords(mcp)} over MCP`];
  return [...customers, ...host, ...from, ...until, ...assistants].map((part) => `, ${part}`).join('');
}

function typesOf({ types }: Details): string {
  return isEmpty(types) ? 'all events' : valueInWords(types);
}

const customersOf = ({ customer_ids: ids }: Details): string =>
  Array.isArray(ids) ? ` of ${customersInWords(ids as string[])}` : '';

export interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** What an event changed: each member that differs, before and after; of a list, what was removed and what was added. */
export function changesOf({ details: text }: Pick<Event, 'details'>): readonly Change[] {
  const { from, to } = JSON.parse(text) as Details;
  if (!isObject(from) || !isObject(to)) return [];
  return Object.keys(to).flatMap((name) => {
    const [before, after] = [from[name], to[name]];
    if (side(name, before) === side(name, after)) return [];
    if (!isList(before) || !isList(after))
      return { name: title(name), before: side(name, before), after: side(name, after) };
    const only = (list: readonly unknown[], others: readonly unknown[]): string =>
      valueInWords(list.filter((value) => !others.includes(value)));
    const change = { name: title(name), before: only(before, after), after: only(after, before) };
    // a list in another order is the same
    return change.before === '' && change.after === '' ? [] : change;
  });
}

/** `: customer id: …`, without members that are not set. */
function others(details: Details): string {
  const set = Object.entries(details).filter(([, value]) => value !== null && !isEmpty(value));
  return set.length === 0
    ? ''
    : `: ${set.map(([name, value]) => `${label(name)}: ${valueInWords(value)}`).join(' · ')}`;
}

const isObject = (value: unknown): value is Details => typeof value === 'object' && value !== null;
const label = (name: string): string => name.replaceAll('_', ' ');
const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;
/** Names of members that are not their own words. */
const TITLES: Readonly<Record<string, string>> = {
  expires_at: 'Expiry',
  allowed_ranges: 'Allowed addresses',
  mcp: 'Assistants (MCP)',
  url: 'URL',
  types: 'Events',
};
const title = (name: string): string => TITLES[name] ?? `${name.charAt(0).toUpperCase()}${label(name.slice(1))}`;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** What it means if a member is not set. */
const UNSET: Readonly<Record<string, string>> = {
  expires_at: 'never',
  allowed_ranges: 'anywhere',
  types: 'all events',
};

/** One side of a change. */
function side(name: string, value: unknown): string {
  return value === undefined || value === null || isEmpty(value) ? (UNSET[name] ?? 'none') : valueInWords(value);
}

function valueInWords(value: unknown): string {
  // null and objects are in events of later versions alone
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.map(valueInWords).join(', ');
  if (isObject(value)) return Object.values(value).map(valueInWords).join(' ');
  return typeof value === 'string' && TIME.test(value) ? exact(value) : `${value as string | number}`;
}
