import type { Session } from '../organisations/sessions';
import { html, type Html, layout } from '../pages/html';

/* The pages of somebody who signs in. They need no script. */

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
