import { PLANS } from '../auth/plans';
import type { Session } from '../organisations/sessions';
import { html, type Html, jsonBlock } from '../pages/html';
import { layout } from '../pages/layout';
import { keyDialogs } from './keyDialogs';
import { keyPage, keysSection } from './keySections';
import {
  AUDIT_SECTION,
  MEMBERS_SECTION,
  operationNames,
  overviewSection,
  type RequestPart,
  requestsSection,
} from './overviewSections';
import { endpointPage, webhookDialogs, type WebhookPart, webhooksSection } from './webhookSections';

/** What the page has to know of the gateway. */
export interface PageParts {
  readonly webhooks: WebhookPart;
  readonly requests: RequestPart;
}

/** `/settings/integrations`: the page without its rows, which are loaded through GraphQL. */
export function renderIntegrations(session: Session, csrf: string, { webhooks, requests }: PageParts): Html {
  const { organisation, user, role } = session;
  const hasPlan = PLANS[organisation.plan].integrations;
  const mayChange = role === 'admin';
  return layout({
    title: `Integrations · ${organisation.name} · Scopegate`,
    description: 'API keys and webhooks of the organisation, their requests, usage and the audit log.',
    current: '/settings/integrations',
    kind: 'settings',
    styles: [
      'prose.css',
      ...['dialogs', 'keys', 'webhooks', 'requests', 'overview'].map((name) => `settings/${name}.css`),
    ],
    module: 'settings/settings.js',
    body: html`<div id="overview">
        <div class="title">
          <div>
            <h1>Integrations</h1>
            <p class="lead"><strong>${organisation.name}</strong> · ${planName(organisation.plan)} plan</p>
          </div>
          <form class="account" method="post" action="/settings/sign-out">
            <p>${user.name} <span class="tag">${role}</span></p>
            <input type="hidden" name="csrf" value="${csrf}" />
            <button class="button" type="submit">Sign out</button>
            <button class="button" type="submit" name="everywhere" value="1">Sign out everywhere</button>
          </form>
        </div>
        ${hasPlan ? undefined : PLAN_NOTICE}
        ${
          mayChange
            ? undefined
            : html`<p class="info">
                You are a member: you can view keys and webhooks, but only admins can change them.
              </p>`
        }
      </div>
      <p class="alert" id="failure" role="alert" hidden></p>
      <div id="notices"></div>
      <p class="unseen" id="said" role="status"></p>
      <noscript
        ><p class="alert">
          This page needs JavaScript. You can also manage keys with <code>scopegate key</code>.
        </p></noscript
      >
      <div id="lists">
        ${overviewSection(mayChange && hasPlan)} ${keysSection(mayChange && hasPlan)}
        ${webhooksSection(mayChange && hasPlan, webhooks)} ${requestsSection('requests', requests)} ${MEMBERS_SECTION}
        ${AUDIT_SECTION}
      </div>
      ${keyPage(mayChange, requests)} ${endpointPage(mayChange)} ${operationNames()}
      ${mayChange ? [keyDialogs(hasPlan), webhookDialogs(hasPlan, webhooks)] : undefined}
      ${jsonBlock('settings', {
        ...{ csrf, mayChange, hasPlan, canMakeWebhooks: webhooks.canMake, storesRequests: requests.isOn },
        // a page is never used for another organisation or user than it was opened for
        ...{ organisation: organisation.id, user: user.id },
      })}`,
  });
}

const planName = (plan: string): string => plan.charAt(0).toUpperCase() + plan.slice(1);

const PLAN_NOTICE = html`<p class="info" id="plan">
  This organisation’s plan does not include integrations: its keys get the error <code>plan_required</code>, and no new
  keys or webhooks can be created. Existing keys can be revoked, and work again as soon as the plan includes
  integrations.
</p>`;
