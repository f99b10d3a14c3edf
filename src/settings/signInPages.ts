import { html, type Html } from '../pages/html';
import { layout } from '../pages/layout';

interface SignInOptions {
  readonly version: string;
  /** Whether OpenID Connect is set up. */
  readonly hasProvider: boolean;
  /** Why an earlier try let no one in. */
  readonly failure?: 'link';
}

/** `/settings/sign-in`: the ways to sign in. */
export function renderSignIn({ version, hasProvider, failure }: SignInOptions): Html {
  return signInLayout(
    version,
    html`<h1>Sign in</h1>
      ${
        failure &&
        html`<p class="alert" role="alert">
          This link has been used or has ended: links are good once, for 15 minutes. Ask for a new one.
        </p>`
      }
      <p class="lead">API keys of an organisation are managed by its signed-in users.</p>
      ${hasProvider ? html`<p><a class="button primary" href="/settings/sign-in/oidc">Sign in with your organisation</a></p>` : undefined}
      <h2>With a one-time link</h2>
      <p>Whoever runs this gateway makes one at a terminal. It is good once, for 15 minutes.</p>
      <pre
        tabindex="0"
        aria-label="Command that makes a link"
      ><code>npx scopegate org link --org ID --role admin</code></pre>`,
  );
}

/** What a one-time link leads to. Reading it uses nothing up. */
export function renderLink({ version, link }: { readonly version: string; readonly link: string }): Html {
  return signInLayout(
    version,
    html`<h1>Sign in</h1>
      <p class="lead">This link signs you in on this browser, once.</p>
      <form method="post" action="/settings/sign-in">
        <input type="hidden" name="link" value="${link}" />
        <button class="button primary" type="submit">Continue</button>
      </form>`,
  );
}

function signInLayout(version: string, body: Html): Html {
  return layout({
    title: 'Sign in · Scopegate',
    description: 'Sign in to manage API keys.',
    version,
    current: '/settings/integrations',
    kind: 'settings',
    styles: ['prose.css'],
    body,
  });
}
