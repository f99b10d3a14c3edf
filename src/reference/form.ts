import type { OpenApiDocument, Parameter } from '../openapi';
import { html, type Html, withCode } from '../pages/html';
import { KEY_FORM } from '../pages/page';
import { IDEMPOTENCY_KEY } from '../pages/samples';
import { json, type Operation, resolved, type Schema, textOf } from './document';
import { methodPill } from './list';
import { LACKING } from './operation';

/** The drawer in which a request is filled in and sent; web/reference/tryIt.ts opens it. Not for operations that send or answer files (isJson). */
export function requestForm(document: OpenApiDocument, operation: Operation): Html {
  const { method, path, parameters, requestBody } = operation;
  const example = requestBody?.content['application/json'].example;
  const takesIdempotencyKey = parameters.some(({ name }) => name === IDEMPOTENCY_KEY);
  return html`<dialog id="try" class="drawer" aria-labelledby="try-title">
    <div class="drawer-head">
      <h2 id="try-title">${methodPill(method)} <code>${path}</code></h2>
      <button class="button" type="button" id="close">Close</button>
    </div>
    ${KEY_FORM}
    <form
      id="request"
      method="dialog"
      data-method="${method}"
      data-path="${path}"
      ${takesIdempotencyKey ? html`data-idempotency-key` : undefined}
      novalidate
    >
      ${parameters.map((parameter) => field(document, parameter))}
      ${
        example === undefined
          ? undefined
          : html`<p class="field">
              <label for="body">Body</label>
              <textarea
                id="body"
                name="body"
                rows="${Math.min(json(example).split('\n').length, MOST_LINES)}"
                spellcheck="false"
              >
${json(example)}</textarea>
            </p>`
      }
      <div class="send">
        <button class="button primary" type="submit">Send request</button>
        <button class="button" type="submit" id="agree" hidden>
          ${method === 'DELETE' ? 'Delete' : 'Send the example'}
        </button>
        <button class="button" type="button" id="curl">Copy as curl</button>
        ${LACKING} <output></output>
      </div>
    </form>
    <section id="answer" aria-label="Answer" hidden></section>
  </dialog>`;
}

/** In lines: a longer body scrolls within its field. */
const MOST_LINES = 16;

function field(document: OpenApiDocument, parameter: Parameter): Html {
  const { name, in: place, required, description } = parameter;
  const id = `${place}-${name}`;
  const hint =
    name === IDEMPOTENCY_KEY
      ? 'If it is empty, each request gets a new UUID, and keeps it until it succeeds.'
      : firstSentence(description);
  const label = html`<code>${name}</code> ${required ? html`<span class="required">required</span>` : undefined}`;
  const { items } = resolved<Schema>(document, parameter.schema);
  const options = items && resolved<Schema>(document, items).enum;
  // HTML cannot require one checkbox of several: the gateway refuses a request without any
  const choice = (value: unknown): Html =>
    html`<label class="choice"
      ><input type="checkbox" name="${name}" value="${String(value)}" data-in="${place}" />${String(value)}</label
    >`;
  return options
    ? html`<fieldset class="field">
        <legend>${label}</legend>
        ${options.map(choice)}
        <p>${withCode(hint)}</p>
      </fieldset>`
    : html`<div class="field">
        <label for="${id}">${label}</label>
        ${control(document, parameter, id)}
        <p id="${id}-hint">${withCode(hint)}</p>
      </div>`;
}

const firstSentence = (text: string): string => /^.*?[.](?= |$)/s.exec(text)?.[0] ?? text;

function control(
  document: OpenApiDocument,
  { name, in: place, required, example, schema }: Parameter,
  id: string,
): Html {
  const outer = resolved<Schema>(document, schema);
  const isList = outer.items !== undefined;
  const inner = outer.items ? resolved<Schema>(document, outer.items) : outer;
  const common = html`id="${id}" name="${name}" data-in="${place}" aria-describedby="${id}-hint"
  ${required ? html`required` : undefined}`;
  const values = inner.enum ?? (inner.type === 'boolean' ? [true, false] : undefined);
  if (values) {
    return html`<select ${common}>
      <option value="">${inner.enum ? 'default' : 'any'}</option>
      ${values.map((value) => html`<option>${String(value)}</option>`)}
    </select>`;
  }
  const text = example === undefined || name === IDEMPOTENCY_KEY ? '' : [example].flat().map(textOf).join('\n');
  const suchAs = text === '' ? '' : `, such as ${text}`;
  if (isList) return html`<textarea ${common} rows="2" placeholder="One per line${suchAs}"></textarea>`;
  const kind = inner.type === 'integer' ? html`type="number" inputmode="numeric"` : html`type="text"`;
  const filled = required ? html`value="${text}"` : html`placeholder="${text}"`;
  return html`<input class="input" ${common} ${kind} ${filled} autocomplete="off" spellcheck="false" />`;
}
