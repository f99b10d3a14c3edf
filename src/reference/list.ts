import { html, type Html, jsonBlock } from '../pages/html';
import type { OpenApiDocument } from '../openapi';
import { answersOf, codesOf, type Operation, REFERENCE, words } from './document';
import { TOPICS } from './topics';

/** The list beside each page of the reference: topics and operations, and the search, which a script does. */
export function list(operations: readonly Operation[], current?: Operation): Html {
  const groups = [...new Set(operations.map(({ group }) => group))];
  return html`<nav class="list" aria-label="Reference">
    <details class="menu">
      <summary>Contents</summary>
      <div>
        <label class="unseen" for="search">Search the reference</label>
        <input
          class="input"
          id="search"
          type="search"
          placeholder="Word, path or error code"
          aria-keyshortcuts="/"
          autocomplete="off"
          spellcheck="false"
          disabled
        />
        <p class="unseen" role="status"></p>
        <p class="none" hidden>
          Nothing found for “<b></b>”. Error codes are listed at <a href="/errors">/errors</a>, webhooks are explained
          at <a href="/webhooks">/webhooks</a>.
        </p>
        <ul>
          ${TOPICS.map(({ id, title }) => html`<li><a href="${REFERENCE}#${id}">${title}</a></li>`)}
        </ul>
        ${groups.map(
          (group) =>
            html`<details ${group === current?.group ? html`open` : undefined}>
              <summary>${words(group)}</summary>
              <ul>
                ${operations.filter((one) => one.group === group).map((one) => item(one, current))}
              </ul>
            </details>`,
        )}
      </div>
    </details>
  </nav>`;
}

function item({ href, title, method, path }: Operation, current: Operation | undefined): Html {
  return html`<li>
    <a href="${href}" title="${method} ${path}" ${href === current?.href ? html`aria-current="page"` : undefined}
      ><span>${title}</span> ${methodPill(method)}</a
    >
  </li>`;
}

export const methodPill = (method: string): Html => html`<b class="method ${method.toLowerCase()}">${method}</b>`;

/** What the search looks at besides titles: the text of each operation by its address, and where links of earlier versions lead. */
export function searchData(document: OpenApiDocument, operations: readonly Operation[]): Html {
  const texts = operations.map((operation) => {
    const answers = answersOf(document, operation).map(([, answer]) => answer);
    const codes = answers.flatMap((answer) => codesOf(answer).map(([code]) => code));
    const headers = answers.flatMap((answer) => Object.keys(answer.headers ?? {}));
    const { href, oldLink, description, parameters } = operation;
    const names = parameters.map(({ name }) => name);
    const text = [description, ...names, ...new Set([...codes, ...headers])].join(' ');
    return { href, old: oldLink, text };
  });
  return jsonBlock('operations', texts);
}
