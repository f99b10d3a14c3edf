import type { OpenApiDocument } from '../openapi';
import { html, type Html, withCode } from '../pages/html';
import { NOT_BLANK } from '../schema/validation';
import { resolved, type Schema, textOf } from './document';

/** A member of a body or an answer, or a parameter. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

/** Where fields are. `isSent` is whether callers send them: only of those is it said what is required. */
interface Place {
  readonly document: OpenApiDocument;
  readonly isSent: boolean;
  /** References to the components that they are inside of, so that one within itself does not unfold forever. */
  readonly around?: readonly string[];
}

/** Paragraphs and lists of a description, whose only other markup is `code`. */
export function prose(text: string): readonly Html[] {
  return text.split('\n\n').flatMap((part) => {
    const [start = '', ...items] = part.split(/^- /m);
    const list =
      items.length > 0
        ? [
            html`<ul>
              ${items.map((item) => html`<li>${withCode(item)}</li>`)}
            </ul>`,
          ]
        : [];
    return [...(start.trim() === '' ? [] : [html`<p>${withCode(start)}</p>`]), ...list];
  });
}

/** A list of fields, in which those of objects unfold. */
export function fieldList(place: Place, fields: readonly Field[]): Html {
  return html`<ul class="fields">
    ${fields.map((field) => fieldItem(place, field))}
  </ul>`;
}

/** The members of the object that a schema describes, or of the objects in its list. */
export function membersOf(document: OpenApiDocument, schema: Schema): readonly Field[] {
  const { properties = {}, required = [] } = innermost(document, schema).schema;
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    isRequired: required.includes(name),
  }));
}

function fieldItem(place: Place, field: Field): Html {
  const { document, isSent, around = [] } = place;
  const { name, isRequired, description = field.schema.description } = field;
  const { schema, type, component } = innermost(document, field.schema);
  const values = schema.enum ?? schema['x-extensible-enum'] ?? [];
  const members = component !== undefined && around.includes(component) ? [] : membersOf(document, schema);
  const limits = limitsOf(document, field.schema);
  return html`<li>
    <p class="field-head">
      <code>${name}</code>
      <span>${type}</span> ${isSent && isRequired ? html`<span class="required">required</span>` : undefined}
    </p>
    ${description === undefined ? undefined : prose(description)}
    ${limits === '' ? undefined : html`<p class="limits">${withCode(limits)}</p>`}
    ${values.length === 0 ? undefined : chips(values, schema.description)}
    ${
      members.length === 0
        ? undefined
        : html`<details>
            <summary>${members.length} ${members.length === 1 ? 'field' : 'fields'} of <code>${name}</code></summary>
            ${fieldList(component === undefined ? place : { ...place, around: [...around, component] }, members)}
          </details>`
    }
  </li>`;
}

/** The values of an enumeration as chips, each with its meaning as far as the description has it. */
function chips(values: readonly unknown[], description = ''): Html {
  const meanings = new Map(
    [...description.matchAll(/^- `([^`]+)`: (.*)$/gm)].map(([, value = '', text]) => [value, text]),
  );
  return html`<ul class="chips" aria-label="Values">
    ${values.map((value) => {
      const meaning = meanings.get(String(value));
      return html`<li><code>${String(value)}</code>${meaning === undefined ? undefined : html` ${meaning}`}</li>`;
    })}
  </ul>`;
}

interface Innermost {
  readonly schema: Schema;
  readonly type: string;
  /** The reference to it, if it is a component. */
  readonly component?: string | undefined;
}

/** The schema within lists and null, and its type in words. */
function innermost(document: OpenApiDocument, outer: Schema): Innermost {
  const { $ref: component } = outer;
  // without a description beside the reference, since that of an enumeration has what its values mean
  const schema = component === undefined ? outer : resolved<Schema>(document, { $ref: component });
  const alternatives = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (alternatives[0]) {
    const inner = innermost(document, alternatives[0]);
    return { ...inner, type: `${inner.type}${alternatives.length < (schema.anyOf?.length ?? 0) ? ' or null' : ''}` };
  }
  const types = [schema.type ?? 'any'].flat();
  const orNull = types.includes('null') ? ' or null' : '';
  if (types.includes('array') && schema.items) {
    const inner = innermost(document, schema.items);
    return { ...inner, type: `list of ${plural(inner.type)}${orNull}` };
  }
  return {
    schema,
    component,
    type: `${typeName(schema, types.filter((type) => type !== 'null').join(' or '))}${orNull}`,
  };
}

const FORMATS: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'time', date: 'date' };

function typeName({ format = '', additionalProperties }: Schema, type: string): string {
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `object of ${plural([additionalProperties.type ?? 'value'].flat()[0] ?? 'value')}`;
  }
  return FORMATS[format] ?? type;
}

/** With an s at its first word: `object or null` → `objects or null`. */
const plural = (type: string): string => type.replace(/^\S+?(?=$| )/, (word) => (word === 'any' ? word : `${word}s`));

/** Bounds of a value in words. */
function limitsOf(document: OpenApiDocument, reference: Schema): string {
  const schema = resolved(document, reference);
  const { minItems, maxItems, minLength, maxLength, minimum, maximum, maxProperties, items, pattern } = schema;
  const each = items ? limitsOf(document, items) : '';
  return [
    // said nowhere, as every filter that is a list needs one value (queryConstraint of schema/jsonSchema.ts)
    between(minItems === 1 ? undefined : minItems, maxItems, 'values'),
    each === '' ? '' : `each ${each}`,
    between(minLength, maxLength, 'characters'),
    between(whole(minimum), whole(maximum)),
    between(undefined, maxProperties, 'pairs'),
    pattern === undefined || !isShown(pattern) ? '' : `matches \`${pattern}\``,
    schema.default === undefined ? '' : `default ${textOf(schema.default)}`,
  ]
    .filter((limit) => limit !== '')
    .join(' · ');
}

/** In characters: a longer one says less than the description. */
const LONGEST_PATTERN = 40;

/** Whether a pattern says more than the description, and can stand in backticks. */
const isShown = (pattern: string): boolean =>
  pattern.length <= LONGEST_PATTERN && pattern !== NOT_BLANK && !pattern.includes('`');

/** The bounds of all integers of 32 and 53 bits. */
const BOUNDS_OF_TYPES = [-(2 ** 31), 2 ** 31 - 1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

/** A bound, unless it is that of its type. */
const whole = (bound: number | undefined): number | undefined =>
  bound !== undefined && BOUNDS_OF_TYPES.includes(bound) ? undefined : bound;

function between(least: number | undefined, most: number | undefined, unit = ''): string {
  const range = rangeText(least?.toLocaleString('en'), most?.toLocaleString('en'));
  return range === '' ? '' : `${range} ${unit}`.trim();
}

function rangeText(least: string | undefined, most: string | undefined): string {
  if (least === undefined) return most === undefined ? '' : `at most ${most}`;
  if (most === undefined) return `at least ${least}`;
  return least === most ? least : `${least} to ${most}`;
}
