import { INVITATION_LIFE } from '../organisations/invitations';
import { LINK_LIFE, type Offer, type Session } from '../organisations/sessions';
import { html, type Html, layout, type LayoutOptions } from '../pages/html';
import { DAY, MINUTE } from '../units';

/* The pages with which people sign in. They need no script. */

export const SIGN_IN = '/settings/sign-in';
/** Where the button of a demo signs in. */
export const DEMO_SIGN_IN = `${SIGN_IN}/demo`;

const USED = `This link has been used or revoked, or has expired: a sign-in link works once, within ${String(LINK_LIFE / MINUTE)} minutes`;
/** Why a link does not sign in. */
const FAILURES = {
  used: `${USED}, and an invitation once, within ${String(INVITATION_LIFE / DAY)} days. Ask for a new one.`,
  /** Beside an identity provider. */
  usedOrInvitation: `${USED}. Invitations do not work any more. Sign in with your organisation, or ask for a new link.`,
  incomplete: 'This link is incomplete. Copy it as a whole, up to its last character, or ask for a new one.',
} as const;

export interface SignInOptions {
  /** Whether OpenID Connect is configured. */
  readonly hasProvider: boolean;
  /** Whom to ask for access: a web page, or an address as mailto: URL. */
  readonly contactUrl: string | undefined;
  /** Whether this visitor may sign in as the demo's admin. */
  readonly isDemo: boolean;
  /** Whether this browser had a session that has ended. */
  readonly hasEnded?: boolean;
  /** Why the previous attempt failed. */
  readonly failure?: keyof typeof FAILURES;
}

/** `/settings/sign-in`: the ways to sign in. */
export function renderSignIn({ hasProvider, contactUrl, isDemo, hasEnded, failure }: SignInOptions): Html {
  return cardLayout(
    ABOUT,
    html`<h1>Sign in</h1>
      ${hasEnded ? html`<p class="info" role="status">Your session has ended. Sign in again to go on.</p>` : undefined}
      ${failure && html`<p class="alert" role="alert">${FAILURES[failure]}</p>`}
      <p class="lead">Sign in to manage the API keys of your organisation.</p>
      ${
        isDemo
          ? html`<form method="post" action="${DEMO_SIGN_IN}">
              <button class="button primary" type="submit">Continue as demo admin</button>
              <p class="hint">This is a demo, and only browsers on this machine see this button.</p>
            </form>`
          : undefined
      }
      ${hasProvider ? html`<p><a class="button primary" href="${SIGN_IN}/oidc">Sign in with your organisation</a></p>` : undefined}
      <p>Were you sent a sign-in link${hasProvider ? '' : ' or an invitation'}? Open it in this browser.</p>
      <h2>No access yet?</h2>
      <p>${whomToAsk(hasProvider, contactUrl)}</p>`,
  );
}

function whomToAsk(hasProvider: boolean, contactUrl: string | undefined): Html {
  const admin = hasProvider
    ? 'Ask whoever manages your organisation’s accounts for access'
    : 'Ask an admin of your organisation for an invitation';
  return contactUrl === undefined
    ? html`${admin}, or the operator of this gateway for a link.`
    : html`${admin}, or <a href="${contactUrl}">contact the operator of this gateway</a>.`;
}

/** The page of a one-time link. Viewing it does not consume the link. `current` is the session of this browser, which the link would replace. */
export function renderLink(
  link: string,
  { organisation, user, role, invitedBy }: Offer,
  current: Session | undefined,
): Html {
  // a link that an operator made tells nobody but its user whose it is
  const lead =
    invitedBy === undefined
      ? html`This one-time link signs you in to this browser.`
      : html`<strong>${invitedBy}</strong> invited <strong>${user.name}</strong> to <strong>${organisation}</strong> as
          ${role}. This link signs you in to this browser, once.`;
  return cardLayout(
    ABOUT,
    html`<h1>Sign in</h1>
      <p class="lead">${lead}</p>
      ${
        current &&
        html`<p>
          You are signed in as ${current.user.name} of ${current.organisation.name}. Continuing signs you in with this
          link instead.
        </p>`
      }
      <form method="post" action="${SIGN_IN}">
        <input type="hidden" name="link" value="${link}" />
        <button class="button primary" type="submit" autofocus>Continue</button>
      </form>`,
  );
}

const ABOUT: CardPage = { title: 'Sign in', description: 'Sign in to manage API keys.' };

interface CardPage extends Required<Pick<LayoutOptions, 'title' | 'description'>> {
  /** Class for styles of its own. */
  readonly kind?: string;
}

/** A page of one card, outside of the settings' menu. */
export function cardLayout({ kind = '', ...about }: CardPage, body: Html): Html {
  return layout({
    ...about,
    current: '/settings/integrations',
    bundle: 'signIn',
    body: html`<div class="sign-in ${kind}"><div class="card">${body}</div></div>`,
  });
}
