import { at } from '../base';
import type { Calls } from './calls';
import { DOCUMENTS, firstCalls, type PageName } from '../../src/settings/documents';
import { type Link, tell } from './notices';

/** What the gateway puts into the page for its script. */
interface Settings {
  csrf: string;
  readonly mayChange: boolean;
  readonly hasPlan: boolean;
  readonly canMakeWebhooks: boolean;
  /** Webhook endpoints that the plan includes. */
  readonly mostEndpoints: number;
  readonly canInvite: boolean;
  readonly storesRequests: boolean;
  /** Whether the organisation is a sandbox. */
  readonly isSandbox: boolean;
  readonly organisation: string;
  readonly user: string;
  /** The currency that the organisation chose (ISO 4217). */
  readonly currency: string;
  /** Why the user sees no figures; undefined for those who see them. */
  readonly whyNoInsights?: string;
  /** The statuses of orders and quotes, from first to last. */
  readonly orderStatuses: NonNullable<Calls['figures']['variables']['sold']>;
  readonly quoteStatuses: readonly string[];
  /** What the scopes of each resource allow, by action; reserved scopes are left out. */
  readonly scopes: Readonly<Record<string, Readonly<Partial<Record<'read' | 'write', string>>>>>;
  /** The status of each error code. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Upper bounds of the buckets in which response times are counted, in milliseconds. */
  readonly timeBounds: readonly number[];
  readonly eventTypes: readonly string[];
  /** The database's time when the gateway sent the page, in milliseconds since 1970, and how far it was ahead of the gateway's. */
  readonly now: number;
  readonly clockSkew: number;
  /** The answers to the page's first calls. */
  readonly opening: Partial<Record<keyof Calls, unknown>>;
}

/** The result of an operation that succeeds. */
export type Answer<Operation extends keyof Calls> = Calls[Operation]['answer'];
export type Key = Answer<'key'>;

export const settings = settingsOf(document);

interface Fault {
  readonly pointer: string;
  detail: string;
}
/** A failed call, with a message for the page. */
export class Failure extends Error {
  /** The API's error code; undefined if there was no answer. */
  readonly code: string | undefined;
  /** What is wrong, by argument. */
  readonly faults: readonly Fault[];
  /** Where the user can fix it. */
  link: Link | undefined;
  /** What else can be done about it. */
  button: { readonly text: string; readonly does: () => void } | undefined;

  constructor(
    message: string,
    { code, faults = [], link }: { code?: string; faults?: readonly Fault[]; link?: Link } = {},
  ) {
    super(message);
    this.code = code;
    this.faults = faults;
    this.link = link;
  }

  /** Whether the gateway may have done what was asked all the same. */
  get isUnsure(): boolean {
    return this.code === undefined || UNSURE.includes(this.code);
  }

  /** What can be done on this page: `again` if the same call may succeed later, `reload` if it can only succeed after a reload, or `none`. */
  get remedy(): 'again' | 'reload' | 'none' {
    if (this.code === 'forbidden' || this.code === 'page') return 'reload';
    return this.isUnsure || PASSING.includes(this.code ?? '') ? 'again' : 'none';
  }
}

const UNSURE = ['unavailable', 'internal'];
/** Codes of errors that go away: with time, by signing in, or once the organisation is resumed. */
const PASSING = ['conflict', 'rate_limited', 'unauthenticated', 'organisation_suspended'];
/** How long to wait for an answer, in milliseconds: a manual delivery takes the gateway up to 17 s. */
export const WITHIN = 30_000;
/** How far the database's clock is ahead of this computer's, in milliseconds. */
let ahead = settings.now - Date.now();

/** The database's time in milliseconds since 1970, to about a second. */
export function now(): number {
  return Date.now() + ahead;
}

/** Calls one of the operations of documents.ts. @throws Failure */
export async function call<Operation extends keyof Calls>(
  operation: Operation,
  variables: Calls[Operation]['variables'] = {},
): Promise<Answer<Operation>> {
  const ready = settings.opening[operation];
  if (ready !== undefined) {
    settings.opening[operation] = undefined;
    return ready as Answer<Operation>;
  }
  const answer = await answerOf(operation, variables);
  const [error] = answer.errors ?? [];
  if (error) throw failureFrom(error);
  const { data } = answer as { data: Answer<Operation> | { value: Answer<Operation> } };
  return 'value' in data ? data.value : data;
}

/** The members of an answer, each with what was read, or with why that failed. */
export interface Parts<Whole> {
  readonly read: Partial<Whole>;
  readonly failures: { readonly [Name in keyof Whole]?: Failure };
}

/** `call` whose members fail one by one. @throws Failure if all of them did */
export async function callParts<Operation extends keyof Calls>(
  operation: Operation,
  variables: Calls[Operation]['variables'] = {},
): Promise<Parts<Answer<Operation>>> {
  const { data, errors = [] } = await answerOf(operation, variables);
  // a member with an error below it counts as failed, too: what is left of it would pass for all
  const failures = Object.fromEntries(errors.map((error) => [String(error.path?.[0]), failureFrom(error)]));
  const read = Object.fromEntries(Object.entries(data ?? {}).filter(([name]) => !(name in failures)));
  const [error] = errors;
  if (error && Object.keys(read).length === 0) throw failureFrom(error);
  return { read, failures } as Parts<Answer<Operation>>;
}

/** @throws Failure if there is none, or nobody is signed in */
async function answerOf<Operation extends keyof Calls>(
  operation: Operation,
  variables: Calls[Operation]['variables'],
): Promise<ApiAnswer> {
  const body = JSON.stringify({ query: DOCUMENTS[operation], variables });
  let answer = await send(body);
  // refused before anything was done: the session may have been replaced by signing in again in another tab
  if (errorOf(answer)?.code === 'forbidden' && (await renewed())) answer = await send(body);
  if (errorOf(answer)?.code === 'unauthenticated') throw signedOut();
  tell('session');
  return answer;
}

function failureFrom(error: ApiError): Failure {
  const { code, errors } = error.extensions;
  return new Failure(messageOf(error), { code, faults: errors });
}

/** `call` of something that may not exist: null if it does not. @throws Failure */
export async function find<Operation extends keyof Calls>(
  operation: Operation,
  variables: Calls[Operation]['variables'],
): Promise<Answer<Operation> | null> {
  const [answer, failure] = await settled(call(operation, variables));
  if (!failure) return answer;
  if (failure.code === 'not_found') return null;
  throw failure;
}

type Variables = { readonly [Operation in keyof Calls]?: Calls[Operation]['variables'] };

/** `call` for the first calls of a page: takes no operations but those in the table, and adds their variables. */
export function callOf<Page extends PageName>(page: Page) {
  return <Operation extends keyof ReturnType<typeof firstCalls>[Page] & keyof Calls>(
    operation: Operation,
    variables: Calls[Operation]['variables'] = {},
  ): Promise<Answer<Operation>> => {
    const first: Variables = firstCalls(now())[page];
    return call(operation, { ...first[operation], ...variables });
  };
}

/** An error's message for people: without pointers, which only programs understand, but with the names of filters. */
function messageOf({ message = '', extensions: { errors = [] } = {} }: Partial<ApiError> = {}): string {
  const said = ({ parameter, detail }: ApiFault): string =>
    sentence(detail, parameter && `the ${parameter.replaceAll('_', ' ')}`);
  return errors.length === 0 ? message : errors.map(said).join(' ');
}

/** `must begin with https://` as a sentence of its own. */
export function sentence(detail: string, name = 'it'): string {
  const subject = /^(is|must|has|was)\b/.test(detail) ? `${name} ${detail}` : detail;
  const text = subject.charAt(0).toUpperCase() + subject.slice(1);
  return text.endsWith('.') ? text : `${text}.`;
}

type ApiFault = Fault & { readonly parameter?: string };
interface ApiError {
  readonly message: string;
  /** Where in the data it is. */
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code?: string; readonly errors?: readonly ApiFault[] };
}
interface ApiAnswer {
  readonly errors?: readonly ApiError[];
  readonly data?: unknown;
}

function errorOf(answer: ApiAnswer): ApiError['extensions'] | undefined {
  return answer.errors?.[0]?.extensions;
}

async function send(body: string): Promise<ApiAnswer> {
  try {
    const response = await fetch(at('/settings/graphql'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': settings.csrf },
      signal: AbortSignal.timeout(WITHIN),
      body,
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) ahead = date + settings.clockSkew - Date.now();
    const answer = (await response.json()) as ApiAnswer | null;
    // a proxy may answer with JSON of its own
    if (!answer || !(answer.data || errorOf(answer)?.code))
      throw new Error(`no answer of the gateway: HTTP ${response.status}`);
    return answer;
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    throw new Failure(
      isLate
        ? `The gateway did not answer within ${WITHIN / 1000} s. Try again.`
        : 'Could not reach the gateway. Try again.',
    );
  }
}

function signedOut(): Failure {
  const message = 'You have been signed out.';
  if (!document.querySelector('dialog[open], [data-unsaved]')) {
    // the reload leads to the sign-in page, and from there back here
    location.reload();
    return new Failure(message, { code: 'unauthenticated' });
  }
  // in a frame, a browser keeps the session apart from that of other tabs
  if (window.top !== window) {
    const text = `${message} Copy what you still need from here, then reload the whole page.`;
    tell('session', { text });
    return new Failure(text, { code: 'unauthenticated' });
  }
  // what was typed or read, or a secret that is shown, must not be lost
  const text = `${message} Sign in again in another tab, then go on here: nothing is lost.`;
  const link = { href: '/settings/sign-in', text: 'Sign in' };
  tell('session', { text, link });
  return new Failure(text, { code: 'unauthenticated', link });
}

/** Reloads the page's CSRF token; resolves with whether it has changed. @throws Failure */
export async function renewed(): Promise<boolean> {
  const page = await fetch(at('/settings/integrations'), { signal: AbortSignal.timeout(WITHIN) })
    .then((response) => response.text())
    .catch(() => '');
  const newSettings = readSettings(new DOMParser().parseFromString(page, 'text/html'));
  if (!newSettings || newSettings.csrf === settings.csrf) return false;
  if (newSettings.organisation !== settings.organisation || newSettings.user !== settings.user) {
    const text =
      newSettings.user === settings.user
        ? 'Another tab has switched between live data and the sandbox, or to another organisation. Reload this page to go on there.'
        : 'Somebody else has signed in, in another tab. Reload this page to go on as that user.';
    tell('session', { text, button: { text: 'Reload', does: () => location.reload() } });
    throw new Failure(text, { code: 'forbidden' });
  }
  settings.csrf = newSettings.csrf;
  return true;
}

/** @throws Error if the page has none */
function settingsOf(page: Document): Settings {
  const pageSettings = readSettings(page);
  if (!pageSettings) throw new Error('a page without its settings');
  return pageSettings;
}

function readSettings(page: Document): Settings | undefined {
  const block = page.getElementById('settings');
  return block ? (JSON.parse(block.textContent) as Settings) : undefined;
}

/** Turns anything thrown into a Failure; for anything unexpected, it says that the page is broken. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  console.error(error);
  return new Failure('Something went wrong on this page. Reload it.', { code: 'page' });
}

/** Resolves with the result of work, or with why it failed. */
export function settled<Result>(work: Promise<Result>) {
  return work.then(
    (value) => [value, undefined] as const,
    (error: unknown) => [undefined, failureOf(error)] as const,
  );
}

/** A failure's message without its advice. */
export function reason({ message }: Failure): string {
  return message.replace(/ Try again\.$/, '');
}
