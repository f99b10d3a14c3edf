import type { Fault } from '../../errors';
import type { JsonSchema } from '../../schema/jsonSchema';
import { isItem, isPageWithAll, wholeOf } from '../../schema/sdl';
import type { Parameter } from './types';
import type { Arguments } from '../routes/routes';
import type { RestOperation } from '../routes/routes';

/*
 * `include` of a list: items that have a field which lists leave out, such as `lines`. It is answered by the list's twin in
 * the REST schema (sdl.ts), so its bytes are those of reading each object alone.
 */

/** Rows of such a page at most: each may have hundreds of lines. */
export const MOST_WITH = 50;

/** The parameter, where a list takes it. */
export function includeParameter({ rest: { includes } }: RestOperation): Parameter[] {
  if (includes === undefined) return [];
  return [
    {
      name: 'include',
      in: 'query',
      required: false,
      description: `\`${includes}\`: each item has its ${includes}, as reading it alone answers them. \`limit\` is then at most ${String(MOST_WITH)}.`,
      schema: { type: 'string', enum: [includes] },
    },
  ];
}

/** Whether a page of rows with all that is in them is asked for. */
export function asksForAll({ include }: Arguments): boolean {
  return include !== undefined;
}

/** What of the arguments of such a page is too much. */
export function includeFaults(args: Arguments): Fault[] {
  if (!asksForAll(args) || Number(args.limit ?? 0) <= MOST_WITH) return [];
  return [{ parameter: 'limit', code: 'range', detail: `must be <= ${String(MOST_WITH)} with include` }];
}

/** The schemas of the document, where items may have what `include` names, and pages of such items are no type of their own. */
export function describeIncluded(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const pages = Object.entries(schemas).filter(([name]) => !isPageWithAll(name));
  return Object.fromEntries(
    pages.map(([name, schema]) => {
      const whole = isItem(name) ? schemas[wholeOf(name)] : undefined;
      // what an item has not is not required of it
      return [name, whole ? { ...schema, properties: { ...includedOf(whole), ...propertiesOf(schema) } } : schema];
    }),
  );
}

function includedOf(whole: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const properties = Object.entries(propertiesOf(whole));
  return Object.fromEntries(
    properties.map(([name, property]) => [
      name,
      { ...property, description: `${String(property.description)} Only with \`include=${name}\`.` },
    ]),
  );
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties as Readonly<Record<string, JsonSchema>>;
}
