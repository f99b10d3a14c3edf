import { bodySchema, type OpenApiDocument, type RequestBody } from '../openapi';
import { COPY, ORIGIN, pre } from '../pages/code';
import { html, type Html, withCode } from '../pages/html';
import { IDEMPOTENCY_KEY, LANGUAGES, type SampleRequest } from '../pages/samples';
import { statusPill } from '../pages/statusPill';
import { type Answer, answersOf, codesOf, json, type Operation, resolved, scopesOf, textOf, words } from './document';
import { fieldList, membersOf, prose } from './fields';
import { methodPill } from './list';

/** The Idempotency-Key of samples, until web/reference/samples.ts puts a new UUID in its place. */
const SAMPLE_KEY = '00000000-0000-4000-8000-000000000000';

/** The texts of an operation: what it does and needs, what is sent, what is answered. */
export function operationText(document: OpenApiDocument, operation: Operation): Html {
  const { title, method, path, group, deprecated } = operation;
  const [about, needs] = described(operation);
  return html`<article class="text">
    <section class="card">
      <p class="crumbs">${words(group)}</p>
      <h1>${title}</h1>
      <p class="route">${methodPill(method)} <code>${serverPath(document)}${path}</code></p>
      ${deprecated === true ? html`<p><span class="pill warn">Deprecated</span></p>` : undefined} ${prose(about)}
      <p class="scopes">${needs} ${LACKING}</p>
    </section>
    ${sentParts(document, operation)} ${answered(document, operation)}
  </article>`;
}

/** Whether what is sent and answered is JSON, which a page can show. */
export const isJson = (operation: Pick<Operation, 'requestBody' | 'responses'>): boolean =>
  !sendsFile(operation) && !answersFile(operation);

/** Whether an answer is a file: only those have the media type of any (openapi/attachments.ts). */
const answersFile = ({ responses }: Pick<Operation, 'responses'>): boolean =>
  JSON.stringify(responses).includes('"*/*"');

/** Hidden until web/reference/tryIt.ts knows a key, and that this key lacks the scopes. */
export const LACKING: Html = html`<span class="pill warn" data-lacking hidden>Not in your key’s scopes</span>`;

/** The description without its last paragraph, and in place of that the scopes as chips: schema/requirements.ts writes the paragraph that is matched here. */
function described(operation: Operation): readonly [string, Html] {
  // the title says the same
  const description = operation.description.replace(`${operation.title}. `, '');
  const at = description.lastIndexOf('\n\n');
  const about = description.slice(0, Math.max(at, 0));
  const last = description.slice(at + 2);
  const scopes = scopesOf(operation);
  const note = /^(?:Requires the scope|Requires one of the scopes|Any valid key)[^.]*\.(.*)$/s.exec(last)?.[1];
  const label = scopes.length === 0 ? 'Any valid key' : scopes.length === 1 ? 'Scope' : 'One of the scopes';
  const chips = scopes.map((scope) => html` <code class="chip" data-scope="${scope}">${scope}</code>`);
  const needs = html`${label}${chips}${note === undefined ? undefined : html`<span>${withCode(note)}</span>`}`;
  return note === undefined ? [description, needs] : [about, needs];
}

/** Whether the body is a file instead of JSON. */
export const sendsFile = ({ requestBody }: { readonly requestBody?: RequestBody | undefined }): boolean =>
  requestBody !== undefined && !('application/json' in requestBody.content);

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const;

function sentParts(document: OpenApiDocument, { parameters, requestBody }: Operation): readonly Html[] {
  const parts = Object.entries(PLACES).flatMap(([place, title]) => {
    const those = parameters.filter((parameter) => parameter.in === place);
    const fields = those.map(({ name, required, description, schema }) => ({
      name,
      schema,
      description,
      isRequired: required,
    }));
    return fields.length === 0 ? [] : [card(title, fieldList({ document, isSent: true }, fields))];
  });
  if (!requestBody) return parts;
  if (sendsFile({ requestBody })) return [...parts, card('Body', html`<p>The bytes of the file, as they are.</p>`)];
  const members = membersOf(document, bodySchema(document, requestBody));
  return [
    ...parts,
    card(
      'Body',
      html`<p class="limits">application/json</p>
        ${fieldList({ document, isSent: true }, members)}`,
    ),
  ];
}

function card(title: string, body: Html): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${body}
  </section>`;
}

function answered(document: OpenApiDocument, operation: Operation): readonly Html[] {
  const answers = answersOf(document, operation);
  const done = answers
    .filter(([status]) => status < '300')
    .map(([status, answer]) => success(document, status, answer));
  const others = answers.filter(([status]) => status >= '300');
  const errors = html`${others.map(([status, answer]) => {
    const codes = codesOf(answer);
    return html`<details class="error">
      <summary>
        ${statusPill(Number(status))}
        <span>${codes.length > 0 ? codes.map(([code]) => code).join(', ') : answer.description}</span>
      </summary>
      ${codes.length === 0 ? prose(answer.description) : codes.map(([code, text]) => html`<p><a href="/errors/${code}">${code}</a>: ${withCode(text)}</p>`)}
    </details>`;
  })}`;
  return [...done, card('Other statuses', errors)];
}

function success(document: OpenApiDocument, status: string, { content = {}, headers = {} }: Answer): Html {
  const schema = Object.values(content)[0]?.schema;
  const names = Object.entries(headers);
  return html`<section class="card">
    <h2>Answer ${statusPill(Number(status))}</h2>
    ${schema === undefined ? html`<p>No body.</p>` : fieldList({ document, isSent: false }, membersOf(document, schema))}
    <details class="headers">
      <summary>${names.length} headers</summary>
      <ul class="fields">
        ${names.map(([name, header]) => {
          const { description = '' } = resolved(document, header);
          return html`<li>
            <p class="field-head"><code>${name}</code></p>
            ${prose(description)}
          </li>`;
        })}
      </ul>
    </details>
  </section>`;
}

/** The request as code, the button that opens it as a form, and the example answers. */
export function operationSamples(document: OpenApiDocument, operation: Operation): Html {
  const request = exampleRequest(document, operation);
  const samples = LANGUAGES.map(({ name, write }) => ({
    id: `language-${name}`,
    label: html`${name}`,
    panel: pre(`${name} sample`, write(request)),
  }));
  const answers = answersOf(document, operation).map(([status, answer]) => ({
    id: `status-${status}`,
    label: statusPill(Number(status)),
    panel: answerExample(status, answer),
  }));
  return html`<aside class="samples" aria-label="Samples">
    ${tabs('language', samples, COPY)}
    ${
      isJson(operation)
        ? html`<button class="button primary" type="button" id="open" disabled>Try it</button>`
        : html`<p>Files cannot be sent or shown here: run the sample in a terminal.</p>`
    }
    ${tabs('status', answers)}
  </aside>`;
}

interface Tab {
  readonly id: string;
  readonly label: Html;
  readonly panel: Html;
}

/** Radio buttons, so that they work without scripts, and below them what each shows (web/reference/samples.css). */
function tabs(name: string, all: readonly Tab[], more?: Html): Html {
  const radio = (id: string, isFirst: boolean): Html =>
    html`<input class="unseen" type="radio" name="${name}" id="${id}" ${isFirst ? html`checked` : undefined} />`;
  return html`<div class="code tabbed" id="${name}">
    <div class="code-bar">
      <div role="radiogroup" aria-label="${words(name)}">
        ${all.map(({ id, label }, at) => html`<label>${radio(id, at === 0)}${label}</label>`)}
      </div>
      ${more}
    </div>
    ${all.map(({ panel }) => html`<section class="panel">${panel}</section>`)}
  </div>`;
}

function answerExample(status: string, { description, content = {} }: Answer): Html {
  const { example, examples = {} } = Object.values(content)[0] ?? {};
  if (example !== undefined) return pre(`Example of ${status}`, json(example));
  const all = Object.entries(examples);
  if (all.length === 0) return html`<p>${withCode(description)}</p>`;
  return html`${all.map(([code, { value }]) => pre(`Example of ${code}`, json(value)))}`;
}

const serverPath = ({ servers }: OpenApiDocument): string => new URL(serverOf(servers), ORIGIN).pathname;

function serverOf([server]: readonly object[]): string {
  return (server as { readonly url: string }).url;
}

/** The file of samples, up and down. */
const FILE = { name: 'drawing.pdf', type: 'application/pdf' };

/** The smallest request that works: what is required, with its examples. */
function exampleRequest(
  document: OpenApiDocument,
  { method, path, parameters, requestBody, responses }: Operation,
): SampleRequest {
  const required = parameters.filter((parameter) => parameter.required);
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, example } of required) {
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(textOf(example ?? name)));
    if (place === 'query') query.append(name, textOf(example ?? ''));
  }
  const isFile = sendsFile({ requestBody });
  const example = isFile ? undefined : requestBody?.content['application/json'].example;
  const headers = required.filter((parameter) => parameter.in === 'header');
  return {
    method,
    url: `${new URL(serverOf(document.servers), ORIGIN).href}${filled}${query.size > 0 ? `?${query.toString()}` : ''}`,
    body: example === undefined ? undefined : json(example),
    headers: Object.fromEntries(headers.map(({ name, example }) => [name, textOf(example ?? '')])),
    file: isFile ? FILE : undefined,
    saveAs: answersFile({ responses }) ? FILE.name : undefined,
    // the page replaces it by a new one where it has a form; a fixed one would be replayed
    idempotencyKey: !isFile && parameters.some(({ name }) => name === IDEMPOTENCY_KEY) ? SAMPLE_KEY : undefined,
  };
}
