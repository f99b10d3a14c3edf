import { html, type Html, jsonBlock } from '../pages/html';
import type { OpenApiDocument } from '../openapi';
import { sideLinks, sideList } from '../pages/sideList';
import { answersOf, codesOf, type Operation, REFERENCE, words } from './document';
import { TOPICS } from './topics';

/** The list beside each page of the reference: topics and operations, and the search, which a script does. */
export function list(operations: readonly Operation[], current?: Operation): Html {
  const groups = [...new Set(operations.map(({ group }) => group))];
  return sideList(
    'Reference',
    html`<label class="unseen" for="search">Search the reference</label>
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
        Nothing found for “<b></b>”. Error codes are listed at <a href="/errors">/errors</a>, webhooks are explained in
        the <a href="/guides/webhooks">guides</a>.
      </p>
      ${sideLinks(TOPICS.map(({ id, title }) => ({ href: `${REFERENCE}#${id}`, text: title })))}
      ${groups.map(
        (group) =>
          html`<details ${group === current?.group ? html`open` : undefined}>
            <summary>${words(group)}</summary>
            ${sideLinks(operations.filter((operation) => operation.group === group).map(entry), current?.href)}
          </details>`,
      )}`,
  );
}

const entry = ({ href, title, method, path }: Operation) => ({
  href,
  text: title,
  title: `${method} ${path}`,
  mark: methodPill(method),
});

export const methodPill = (method: string): Html => html`<b class="method ${method.toLowerCase()}">${method}</b>`;

/** What the script of the search looks at besides titles: the id and text of each operation, by its address. */
export function searchData(document: OpenApiDocument, operations: readonly Operation[]): Html {
  const texts = operations.map((operation) => ({
    href: operation.href,
    id: operation.operationId,
    text: searchText(document, operation),
  }));
  return jsonBlock('operations', texts);
}

/** The description of an operation, and the names of its parameters, error codes and headers. */
export function searchText(document: OpenApiDocument, operation: Operation): string {
  const { description, parameters } = operation;
  const answers = answersOf(document, operation).map(([, answer]) => answer);
  const codes = answers.flatMap((answer) => codesOf(answer).map(([code]) => code));
  const headers = answers.flatMap((answer) => Object.keys(answer.headers ?? {}));
  return [description, ...parameters.map(({ name }) => name), ...new Set([...codes, ...headers])].join(' ');
}
