import { ERROR_CODES, type ErrorCode, RETRIES } from '../errors';
import { exampleOf } from './errorExamples';
import { ownPolicy, type Page } from './page';
import { codeBlock } from './code';
import { html, withCode } from './html';

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

/** `/errors`, and a page for each code, which a problem's `type` links to. */
export const errorCatalogue: readonly Page[] = [
  {
    path: '/errors',
    policy: ownPolicy,
    title: 'Errors · Scopegate',
    description: 'Every error code of the API.',
    current: '/errors',
    body: () =>
      html`<article>
        <h1>Errors</h1>
        <p class="lead">
          REST errors are <code>application/problem+json</code> (RFC 9457). GraphQL errors have the same
          <code>code</code>, <code>status</code> and <code>request_id</code> in <code>extensions</code>. Handle errors
          by <code>code</code>, and include <code>request_id</code> when you contact support.
        </p>
        <ul class="errors">
          ${CODES.map((code) => {
            const { status, title, help } = ERROR_CODES[code];
            return html`<li>
              <p><span class="badge">${status}</span> <a href="/errors/${code}">${title}</a> <code>${code}</code></p>
              <p>${withCode(help)}</p>
            </li> `;
          })}
        </ul>
      </article>`,
  },
  ...CODES.map(pageOf),
];

function pageOf(code: ErrorCode): Page {
  const { status, title, help, retry } = ERROR_CODES[code];
  return {
    path: `/errors/${code}`,
    policy: ownPolicy,
    title: `${title} · Scopegate`,
    description: `The error code ${code}: what it means and what to do.`,
    current: '/errors',
    body: () =>
      html`<article>
        <p class="crumbs"><a href="/errors">Errors</a></p>
        <h1>${title}</h1>
        <p><span class="badge">${status}</span> <code>${code}</code></p>
        <h2>What it means and what to do</h2>
        <p>${withCode(help)}</p>
        <h2>Retries</h2>
        <p>${withCode(RETRIES[retry])}</p>
        <h2>Example</h2>
        ${codeBlock(html`REST: HTTP ${status}, application/problem+json`, 'REST example', restExample(code))}
        ${codeBlock(html`GraphQL`, 'GraphQL example', graphqlExample(code))}
      </article>`,
  };
}

function restExample(code: ErrorCode): string {
  const { status, title } = ERROR_CODES[code];
  const { detail, members } = exampleOf(code);
  return JSON.stringify({ type: `/errors/${code}`, title, status, detail, code, request_id: '…', ...members }, null, 2);
}

/** Codes of requests that are refused before an operation runs, so their GraphQL errors have no path. */
const BEFORE_OPERATIONS: readonly ErrorCode[] = [
  'unauthenticated',
  'organisation_suspended',
  'plan_required',
  'method_not_allowed',
  'not_acceptable',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
];

function graphqlExample(code: ErrorCode): string {
  const { status } = ERROR_CODES[code];
  const { detail, members } = exampleOf(code);
  const path = BEFORE_OPERATIONS.includes(code) ? undefined : ['quotes'];
  const error = { message: detail, path, extensions: { code, status, request_id: '…', ...members } };
  return JSON.stringify({ errors: [error] }, null, 2);
}
