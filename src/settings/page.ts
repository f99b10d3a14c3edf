import { hasApiAccess, type Mode, modeOf } from '../auth/principal';
import { LATENCY_BOUNDS } from '../organisations/usageDetails';
import type { Session } from '../organisations/sessions';
import { ERROR_CODES } from '../errors';
import { html, type Html, icon, jsonBlock, layout } from '../pages/html';
import { published } from '../schema/model';

/** What the page needs to know about webhooks. */
export interface WebhookInfo {
  /** Every type of event. */
  readonly types: readonly string[];
  /** Whether this gateway has WEBHOOK_SECRET, from which endpoints' secrets are derived. */
  readonly canMake: boolean;
}

/** What the page needs to know about the gateway. */
export interface PageInfo {
  /** Whether there is a sandbox to switch to, or the user may make one. */
  readonly canSwitch: boolean;
  readonly webhooks: WebhookInfo;
  /** Whether this gateway stores requests (REQUEST_LOG). */
  readonly storesRequests: boolean;
  /** The answers to the first calls of the page (opening.ts). */
  readonly opening: object;
}

/** The document of all settings pages; the script shows the page that the address names, and loads rows through GraphQL. */
export function renderSettings(
  session: Session,
  csrf: string,
  { webhooks, storesRequests, canSwitch, opening }: PageInfo,
): Html {
  const { organisation, home, user, role } = session;
  const mode = modeOf(organisation);
  const hasPlan = hasApiAccess(organisation);
  const mayChange = role === 'admin';
  return layout({
    title: `${organisation.name} · Scopegate`,
    description: 'API keys and webhooks of the organisation, their requests, usage and the audit log.',
    current: '/settings/integrations',
    bundle: 'settings',
    body: html`<div class="app">
        <div class="strip">
          <button class="button" type="button" popovertarget="side" aria-label="Settings menu">${icon('menu')}</button>
          <p class="organisation"><strong>${organisation.name}</strong>${mode === 'test' ? 'Sandbox' : undefined}</p>
        </div>
        <aside class="side" id="side" popover aria-label="Settings">
          <p class="organisation"><strong>${organisation.name}</strong> ${planName(organisation.plan)} plan</p>
          ${canSwitch && !(mode === 'test' && organisation.id === home) ? modeSwitch(mode, csrf) : undefined}
          <nav aria-label="Settings">
            ${PAGES.map(([path, symbol, name]) => html`<a href="/settings/${path}">${icon(symbol)}${name} ${path === 'webhooks' ? FAILING : undefined}</a>`)}
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
          ${mayChange ? undefined : MEMBER_NOTICE}
          ${['integrations', 'keys', 'key', 'webhooks', 'endpoint', 'requests', 'members', 'audit'].map(pageSection)}
        </div>
      </div>
      <div id="dialogs"></div>
      ${operationNames()}
      ${jsonBlock('settings', {
        ...{ csrf, mayChange, hasPlan, canMakeWebhooks: webhooks.canMake, storesRequests, opening, now: Date.now() },
        ...{ scopes: offeredScopes(), eventTypes: webhooks.types, timeBounds: LATENCY_BOUNDS, statuses: STATUSES },
        // so that the page is never used for an organisation or user other than it was opened for
        ...{ organisation: organisation.id, user: user.id },
      })}`,
  });
}

/** The pages in the side bar: path, icon and name. */
export const PAGES = [
  ['integrations', 'layout-dashboard', 'Overview'],
  ['keys', 'key-round', 'API keys'],
  ['webhooks', 'webhook', 'Webhooks'],
  ['requests', 'scroll-text', 'Requests'],
  ['members', 'users', 'Members'],
  ['audit', 'history', 'Audit log'],
] as const;

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

/** Why a link does not sign in. */
const FAILURES = {
  used: 'This link has been used or has expired. Links work once, within 15 minutes. Ask for a new one.',
  incomplete: 'This link is incomplete. Copy it as a whole, up to its last character, or ask for a new one.',
} as const;

interface SignInOptions {
  /** Whether OpenID Connect is configured. */
  readonly hasProvider: boolean;
  /** Why the previous attempt failed. */
  readonly failure?: keyof typeof FAILURES;
}

/** `/settings/sign-in`: the ways to sign in. */
export function renderSignIn({ hasProvider, failure }: SignInOptions): Html {
  return signInLayout(
    html`<h1>Sign in</h1>
      ${failure && html`<p class="alert" role="alert">${FAILURES[failure]}</p>`}
      <p class="lead">Sign in to manage the API keys of your organisation.</p>
      ${hasProvider ? html`<p><a class="button primary" href="/settings/sign-in/oidc">Sign in with your organisation</a></p>` : undefined}
      <h2>With a one-time link</h2>
      <p>The operator of this gateway creates it in a terminal. It works once, within 15 minutes.</p>
      <ol class="steps">
        <li>
          <p>Find the id of your organisation:</p>
          ${command('Command that lists organisations', 'npx scopegate org list')}
        </li>
        <li>
          <p>
            Create the link with that id in place of <code>ID</code>, for an <code>admin</code>, or a
            <code>member</code>, who can only view:
          </p>
          ${command('Command that creates a link', 'npx scopegate org link --org ID --role admin')}
        </li>
        <li><p>Open the link that it prints in this browser.</p></li>
      </ol>
      <p class="unseen" id="said" role="status"></p>`,
  );
}

/** A command with a copy button, which stays hidden until the script that makes it work shows it. */
function command(name: string, text: string): Html {
  return html`<div class="command">
    <pre tabindex="0" aria-label="${name}"><code>${text}</code></pre>
    <button class="button" type="button" data-copy aria-label="Copy: ${text}" hidden>Copy</button>
  </div>`;
}

/** The page of a one-time link. Viewing it does not consume the link. `current` is the session of this browser, which the link would replace. */
export function renderLink(link: string, current: Session | undefined): Html {
  return signInLayout(
    html`<h1>Sign in</h1>
      <p class="lead">This one-time link signs you in to this browser.</p>
      ${
        current &&
        html`<p>
          You are signed in as ${current.user.name} of ${current.organisation.name}. Continuing signs you in with this
          link instead.
        </p>`
      }
      <form id="link" method="post" action="/settings/sign-in">
        <input type="hidden" name="link" value="${link}" />
        <button class="button primary" type="submit" autofocus>Continue</button>
      </form>`,
  );
}

function signInLayout(body: Html): Html {
  return layout({
    title: 'Sign in · Scopegate',
    description: 'Sign in to manage API keys.',
    current: '/settings/integrations',
    bundle: 'signIn',
    body,
  });
}
