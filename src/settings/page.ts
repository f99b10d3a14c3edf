import type { Plan } from '../auth/plans';
import { type Mode, modeOf } from '../auth/principal';
import { LATENCY_BOUNDS } from '../organisations/usageDetails';
import type { Session } from '../organisations/sessions';
import { ERROR_CODES } from '../errors';
import { html, type Html, icon, jsonBlock, layout, SITE_NAME } from '../pages/html';
import { LOADING } from '../pages/page';
import { published } from '../schema/model';
import { type PageName, SETTINGS_PAGES } from './documents';

/** With what the addresses of a sandbox's pages begin. */
export const SANDBOX_PATH = '/settings/sandbox';

/** What the page needs to know about webhooks on this gateway. */
export interface WebhookInfo {
  /** Every type of event. */
  readonly types: readonly string[];
  /** Whether this gateway has WEBHOOK_SECRET, from which endpoints' secrets are derived. */
  readonly canMake: boolean;
}

/** What the page needs to know about the gateway. */
export interface PageInfo {
  /** Whether the user can switch between live data and the sandbox, or may make one: not if their own organisation is a sandbox. */
  readonly canSwitch: boolean;
  /** Whether keys and webhooks work. */
  readonly hasPlan: boolean;
  /** What the plan includes. */
  readonly limits: Pick<Plan, 'webhook_endpoints'>;
  readonly webhooks: WebhookInfo;
  /** Whether people can be invited: not if an identity provider decides who signs in. */
  readonly canInvite: boolean;
  /** Whether this gateway stores requests (REQUEST_LOG). */
  readonly storesRequests: boolean;
  /** Why the user sees no figures; undefined for those who see them. */
  readonly whyNoInsights: string | undefined;
  /** The answers to the first calls of the page (opening.ts). */
  readonly opening: object;
  /** The database's time, by which keys expire and rows are listed, in milliseconds since 1970. */
  readonly now: number;
}

/** The document of all settings pages; the script shows the page that the address names, and loads rows through GraphQL. */
export function renderSettings(
  session: Session,
  csrf: string,
  { hasPlan, limits, webhooks, canInvite, storesRequests, whyNoInsights, canSwitch, opening, now }: PageInfo,
): Html {
  const { organisation, user, role, returnTo } = session;
  const mode = modeOf(organisation);
  const root = mode === 'test' ? SANDBOX_PATH : '/settings';
  const mayChange = role === 'admin';
  return layout({
    title: organisation.name,
    description: 'API keys and webhooks of the organisation, their requests, usage and the audit log.',
    current: '/settings/integrations',
    bundle: 'settings',
    body: html`<div class="app">
        <div class="strip">
          <button class="button" type="button" popovertarget="side" aria-label="Settings menu">
            ${icon('panel-left')}
          </button>
          <p class="organisation"><strong>${organisation.name}</strong>${mode === 'test' ? 'Sandbox' : undefined}</p>
        </div>
        <aside class="side" id="side" popover aria-label="Settings">
          ${returnTo === undefined ? undefined : returnLink(returnTo)}
          <p class="organisation"><strong>${organisation.name}</strong> ${planName(organisation.plan)} plan</p>
          ${canSwitch ? modeSwitch(mode, csrf) : undefined}
          <nav aria-label="Settings">
            ${PAGES.filter(([path]) => path !== 'insights' || whyNoInsights === undefined).map(
              ([path, symbol, name]) =>
                html`<a href="${root}/${path}">${icon(symbol)}${name} ${path === 'webhooks' ? FAILING : undefined}</a>`,
            )}
          </nav>
          <button class="user" type="button" popovertarget="account">
            <span class="initial" aria-hidden="true">${Array.from(user.name)[0]?.toUpperCase() ?? ''}</span>
            <span><strong>${user.name}</strong> <small>${role}</small><span class="unseen">, your account</span></span>
            ${icon('chevrons-up-down')}
          </button>
          <form class="menu account" id="account" popover method="post" action="/settings/sign-out">
            <input type="hidden" name="csrf" value="${csrf}" />
            <button type="submit">Sign out</button>
            <button type="submit" name="everywhere" value="1">Sign out everywhere</button>
          </form>
        </aside>
        <div class="pages">
          ${mode === 'test' ? SANDBOX_NOTICE : undefined} ${hasPlan ? undefined : planNotice(mayChange)}
          <div id="notices"></div>
          <p class="info" id="said" role="status"></p>
          <noscript
            ><p class="alert">
              This page needs JavaScript. You can also manage keys with <code>scopegate key</code>.
            </p></noscript
          >
          ${mayChange ? undefined : MEMBER_NOTICE} ${LOADING} ${[...SETTINGS_PAGES, 'key', 'endpoint'].map(pageSection)}
        </div>
      </div>
      <div id="dialogs"></div>
      ${operationNames()}
      ${jsonBlock('settings', {
        csrf,
        mayChange,
        hasPlan,
        isSandbox: mode === 'test',
        canMakeWebhooks: webhooks.canMake,
        mostEndpoints: limits.webhook_endpoints,
        canInvite,
        storesRequests,
        whyNoInsights,
        scopes: offeredScopes(),
        eventTypes: webhooks.types,
        timeBounds: LATENCY_BOUNDS,
        statuses: STATUSES,
        currency: organisation.currency,
        ...STAGES,
        opening,
        now,
        clockSkew: now - Date.now(),
        // by which the script notices that somebody else has signed in, or switched, in another tab
        organisation: organisation.id,
        user: user.id,
      })}`,
  });
}

/** The pages in the side bar: path, icon and name. */
export const PAGES = [
  ['integrations', 'layout-dashboard', 'Overview'],
  ['insights', 'chart-column', 'Insights'],
  ['keys', 'key-round', 'API keys'],
  ['webhooks', 'webhook', 'Webhooks'],
  ['requests', 'scroll-text', 'Requests'],
  ['members', 'users', 'Members'],
  ['audit', 'history', 'Audit log'],
] as const satisfies readonly (readonly [path: PageName, icon: string, name: string])[];

/** Leads back to the page that a person came from. In a frame of the product it replaces the product's page, not what is in the frame. */
const returnLink = (url: string): Html =>
  html`<a class="return" href="${url}" target="_top">${icon('arrow-left')}Back to ${SITE_NAME}</a>`;

/** In it the script says how many endpoints are failing. */
const FAILING = html`<span class="tag failing" id="failing" hidden></span>`;

/** The empty section of a page, which the script fills and shows. */
function pageSection(name: string): Html {
  return html`<section data-page="${name}" aria-labelledby="${name}-title" hidden></section>`;
}

/** What each scope allows, by resource and action. Scopes that no operation uses are left out. */
function offeredScopes(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const offered: Record<string, Record<string, string>> = {};
  for (const scope of published.usedScopes) {
    const allows = published.scopeDescriptions.get(scope) ?? '';
    const [resource = '', action = ''] = scope.split(':');
    offered[resource] = { ...offered[resource], [action]: allows };
  }
  return offered;
}

/** HTTP statuses by error code. */
const STATUSES = Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]));

const valuesOf = (type: string): string[] => published.enumValuesOf(type).map(({ name }) => name.value);
/** The statuses of orders and quotes, in the order of the SDL. */
const STAGES = { orderStatuses: valuesOf('OrderStatus'), quoteStatuses: valuesOf('QuoteStatus') };

/** The operation names that the filters of requests and of usage suggest. */
function operationNames(): Html {
  const operations = published.operations.filter(({ role }) => role === undefined).map(({ name }) => name);
  return html`<datalist id="operations">
    ${[...operations, 'introspection'].toSorted().map((name) => html`<option value="${name}"></option>`)}
  </datalist>`;
}

const MEMBER_NOTICE = html`<p class="info">
  You are a member: you can view keys and webhooks, but only admins can change them.
</p>`;

/** What is shown at the address of a page of the other side, live data or the sandbox, since a link alone must not switch. */
export function renderOtherSide({ user, organisation }: Session, csrf: string, address: string): Html {
  const [here, there, to] =
    modeOf(organisation) === 'live' ? ['live data', 'the sandbox', 'test'] : ['the sandbox', 'live data', 'live'];
  return layout({
    title: `A page of ${there}`,
    description: 'A link to the other side of the settings.',
    current: '/settings/integrations',
    bundle: 'signIn',
    body: html`<div class="sign-in">
      <div class="card">
        <h1>This page is in ${there}</h1>
        <p class="lead">${user.name}, you are in ${here} (${organisation.name}).</p>
        <form method="post" action="/settings/mode">
          <input type="hidden" name="csrf" value="${csrf}" /> <input type="hidden" name="page" value="${address}" />
          <button class="button primary" type="submit" name="mode" value="${to}" data-busy="Opening ${there}…">
            Switch to ${there}
          </button>
          <a class="button" href="/settings/integrations">Stay in ${here}</a>
        </form>
      </div>
    </div>`,
  });
}

/** The switch between live data and the sandbox; web/settings/mode.js fills in the address of the page. */
function modeSwitch(mode: Mode, csrf: string): Html {
  const button = (to: Mode, text: string, busy: string): Html =>
    html`<button type="submit" name="mode" value="${to}" aria-pressed="${String(to === mode)}" data-busy="${busy}">
      ${text}
    </button>`;
  return html`<form class="mode segments" method="post" action="/settings/mode" aria-label="Data">
    <input type="hidden" name="csrf" value="${csrf}" /> <input type="hidden" name="page" />
    ${button('live', 'Live', 'Opening…')} ${button('test', 'Sandbox', 'Opening the sandbox…')}
  </form>`;
}

const SANDBOX_NOTICE = html`<p class="info" id="sandbox">
  This is the sandbox: sample data to try an integration on. It has keys and webhooks of its own, which cannot reach
  your live data.
</p>`;

const planName = (plan: string): string => plan.charAt(0).toUpperCase() + plan.slice(1);

function planNotice(mayChange: boolean): Html {
  return html`<p class="info" id="plan">
    ${mayChange ? 'Upgrade the plan to create keys and webhooks' : 'Ask an admin to upgrade the plan'}: this one does
    not include integrations, so keys get the error <code>plan_required</code>. Existing keys can be revoked, and work
    again as soon as the plan includes integrations. The sandbox works on every plan.
  </p>`;
}
