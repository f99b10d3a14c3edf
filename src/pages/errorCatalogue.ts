import { CODES, ERROR_CODES, type ErrorCode, RETRIES } from '../errors';
import { codeBlock } from './code';
import { type Cause, CAUSES } from './errorCauses';
import { exampleOf, graphqlExampleOf, restError } from './errorExamples';
import { html, type Html, withCode } from './html';
import { ownPolicy, type Page } from './page';
import { sideLinks, sideList } from './sideList';
import { statusPill } from './statusPill';

const ERRORS = '/errors';
const COMMON = { policy: ownPolicy, current: ERRORS, bundle: 'guides' } as const;

const addressOf = (code: ErrorCode): string => `${ERRORS}/${code}`;

/** `/errors`, and a page for each code, which a problem's `type` links to. */
export const errorCatalogue: readonly Page[] = [
  {
    ...COMMON,
    path: ERRORS,
    title: 'Errors',
    description: 'Every error code of the API.',
    body: () =>
      html`<div class="columns">
        ${list()}
        <div class="start">
          <section class="card">
            <h1>Errors</h1>
            <p class="lead">
              REST errors are <code>application/problem+json</code> (RFC 9457). GraphQL errors have the same
              <code>code</code>, <code>status</code> and <code>request_id</code> in <code>extensions</code>. Handle
              errors by <code>code</code>, and include <code>request_id</code> when you contact support.
            </p>
          </section>
          <section class="card" aria-label="Codes">
            <ul class="about errors">
              ${CODES.map((code) => {
                const { status, title, help } = ERROR_CODES[code];
                return html`<li>
                  <p>${statusPill(status)} <a href="${addressOf(code)}">${title}</a><br /><code>${code}</code></p>
                  <p>${withCode(help)}</p>
                </li> `;
              })}
            </ul>
          </section>
        </div>
      </div>`,
  },
  ...CODES.map(pageOf),
];

function pageOf(code: ErrorCode): Page {
  const { status, title, help, retry } = ERROR_CODES[code];
  const causes = CAUSES[code] ?? [];
  return {
    ...COMMON,
    path: addressOf(code),
    title,
    description: `The error code ${code}: what it means and what to do.`,
    body: () =>
      html`<div class="columns">
        ${list(addressOf(code))}
        <article class="${causes.length > 0 ? 'start' : 'text'}">
          <section class="card">
            <p class="crumbs"><a href="${ERRORS}">Errors</a></p>
            <h1>${title}</h1>
            <p>${statusPill(status)} <code>${code}</code></p>
            <h2>What it means and what to do</h2>
            <p>${withCode(help)}</p>
            <h2>Retries</h2>
            <p>${withCode(RETRIES[retry])}</p>
          </section>
          ${causes.map(causeCard)}
        </article>
        ${causes.length > 0 ? undefined : examples(code)}
      </div>`,
  };
}

function list(current?: string): Html {
  return sideList(
    'Errors',
    sideLinks(
      CODES.map((code) => ({
        href: addressOf(code),
        text: ERROR_CODES[code].title,
        mark: statusPill(ERROR_CODES[code].status),
      })),
      current,
    ),
  );
}

/** A cause, with its example beside it. */
function causeCard({ title, happened, todo, example: { api, body } }: Cause): Html {
  return html`<section class="topic card">
    <div>
      <h2>${title}</h2>
      <p>${withCode(happened)}</p>
      <p><strong>What to do:</strong> ${withCode(todo)}</p>
    </div>
    ${codeBlock(html`${api}`, `Example: ${title}`, json(body))}
  </section>`;
}

/** What REST and GraphQL answer. */
function examples(code: ErrorCode): Html {
  const { detail, members } = exampleOf(code);
  const { status } = ERROR_CODES[code];
  const rest = restError(code, detail, members);
  return html`<aside class="samples" aria-label="Examples">
    ${codeBlock(html`REST: HTTP ${status}, application/problem+json`, 'REST example', json(rest))}
    ${codeBlock(html`GraphQL`, 'GraphQL example', json(graphqlExampleOf(code)))}
  </aside>`;
}

const json = (value: object): string => JSON.stringify(value, null, 2);
