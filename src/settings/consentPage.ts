import type { Mode, Organisation } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import type { AuthorizationRequest } from '../oauth/authorization';
import { AUTHORIZE_PATH } from '../oauth';
import { hostOf } from '../oauth/redirectUris';
import type { Session } from '../organisations/sessions';
import { html, type Html } from '../pages/html';
import { published } from '../schema/model';
import { cardLayout } from './signInPage';

/* The page that asks an admin whether an app may connect. It needs no script. */

const ABOUT = { title: 'Connect an app', description: 'Decide whether an app may connect.', kind: 'consent' };

/** How long an app may stay connected: days, and in words. */
export const LIFETIMES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const;

/** Code points of an app's name that are shown: too few for a message of its own. */
const LONGEST_NAME = 40;

export interface Choices {
  readonly scopes: readonly Scope[];
  readonly mode: Mode;
  readonly lifetime: (typeof LIFETIMES)[number][0];
}

/** Why an app cannot be connected now to the live data or to the sandbox, as a clause; undefined if it can. */
export type Closed = Readonly<Record<Mode, string | undefined>>;

interface ConsentOptions {
  readonly authorization: AuthorizationRequest;
  readonly session: Session;
  /** The organisation whose people are asked. */
  readonly organisation: Organisation;
  readonly closed: Closed;
  /** The CSRF token of the session. */
  readonly csrf: string;
  /** The query of the request, with its `?`. */
  readonly query: string;
  /** What is chosen in the form as it is shown. */
  readonly choices: Choices;
  /** The scopes to show first: those that the app asks for or, without any, those that read. */
  readonly proposed: readonly Scope[];
  /** Why the app was not connected, as a sentence. */
  readonly failure: string | undefined;
}

export function renderConsent({ authorization, session, organisation, failure, ...options }: ConsentOptions): Html {
  const { csrf, query, choices, proposed, closed } = options;
  const { client, redirectUri } = authorization;
  const name = shortened(client.name);
  const isAdmin = session.role === 'admin';
  const isPossible = closed.live === undefined || closed.test === undefined;
  return cardLayout(
    ABOUT,
    html`<h1>Connect ${name} (${hostOf(redirectUri)})?</h1>
      ${failure === undefined ? undefined : html`<p class="alert" role="alert">${failure}</p>`}
      <p class="lead">
        An app that calls itself <strong>${name}</strong> asks for access to <strong>${organisation.name}</strong>.
        ${whereTo(redirectUri)}
      </p>
      <form method="post" action="${AUTHORIZE_PATH}${query}">
        <input type="hidden" name="csrf" value="${csrf}" />
        ${
          isAdmin
            ? html`${isPossible ? undefined : NOT_NOW}
                ${scopesOf(proposed, choices.scopes, authorization.scopes.length > 0)} ${dataOf(choices.mode, closed)}
                <label class="lifetime"
                  >Connected for
                  <select class="input" name="lifetime">
                    ${LIFETIMES.map(
                      ([days, words]) =>
                        html`<option value="${days}" ${days === choices.lifetime ? html`selected` : undefined}>
                          ${words}
                        </option>`,
                    )}
                  </select>
                </label>`
            : html`<p class="info">You are a member: only admins can connect apps. Ask one to open this address.</p>`
        }
        <p class="buttons">
          ${
            isAdmin
              ? html`<button
                  class="button primary"
                  name="decision"
                  value="allow"
                  data-busy="Going back to the app…"
                  ${isPossible ? undefined : html`disabled`}
                >
                  Allow
                </button>`
              : undefined
          }
          <button class="button" name="decision" value="deny" formnovalidate data-busy="Going back to the app…">
            Deny
          </button>
        </p>
      </form>
      <p class="hint">
        You are ${session.user.name}. Connected apps are among the API keys, where an admin can revoke them at any time.
      </p>`,
  );
}

const NOT_NOW = html`<p class="alert" role="alert">
  No app can be connected now: neither the live data nor the sandbox takes another key. Below is why.
</p>`;

/** What is shown for a request that is wrong, or of an app that nobody knows, instead of sending the browser anywhere. */
export function renderWrongRequest(fault: string): Html {
  return cardLayout(
    ABOUT,
    html`<h1>This app cannot be connected</h1>
      <p class="alert" role="alert">${fault}</p>
      <p>Nothing was allowed. You can close this page.</p>`,
  );
}

function shortened(name: string): string {
  const characters = Array.from(name);
  return characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…` : name;
}

function whereTo(redirectUri: string): Html {
  const { protocol } = new URL(redirectUri);
  if (protocol === 'https:') return html`The answer goes to <strong>${hostOf(redirectUri)}</strong>.`;
  return html`The answer goes to a program on your computer (<strong>${hostOf(redirectUri)}</strong>): allow it only if
  you have just started it.`;
}

/** The scopes to choose from, first the proposed ones; `isRequested` if the app asks for these. */
function scopesOf(proposed: readonly Scope[], checked: readonly Scope[], isRequested: boolean): Html {
  const others = published.usedScopes.filter((scope) => !proposed.includes(scope));
  const boxes = (scopes: readonly Scope[]): readonly Html[] =>
    scopes.map(
      (scope) =>
        html`<label>
          <input type="checkbox" name="scope" value="${scope}" ${checked.includes(scope) ? html`checked` : undefined} />
          <span><code>${scope}</code> ${published.scopeDescriptions.get(scope) ?? ''}</span>
        </label>`,
    );
  return html`<fieldset class="box">
    <legend>${isRequested ? 'It asks for' : 'It asks for nothing in particular'}</legend>
    ${boxes(proposed)}
    ${
      others.length === 0
        ? undefined
        : html`<details ${others.some((scope) => checked.includes(scope)) ? html`open` : undefined}>
            <summary>Allow more than it asks for</summary>
            ${boxes(others)}
          </details>`
    }
  </fieldset>`;
}

function dataOf(mode: Mode, closed: Closed): Html {
  const radio = (value: Mode, words: string): Html => {
    const why = closed[value];
    return html`<label>
      <input
        type="radio"
        name="mode"
        value="${value}"
        required
        ${value === mode && why === undefined ? html`checked` : undefined}
        ${why === undefined ? undefined : html`disabled`}
      />
      <span>${words}${why === undefined ? undefined : ` (${why})`}</span>
    </label>`;
  };
  return html`<fieldset class="box">
    <legend>Data</legend>
    ${radio('live', 'Live data')} ${radio('test', 'Sandbox: sample data')}
  </fieldset>`;
}
