import { FIELDS, IDEMPOTENCY_KEY, toolsOf } from '../../src/mcp/tools';
import type { Schemas } from '../../src/operations/build';
import { createRunner } from '../../src/operations/runner';
import type { Answer, Json } from './client';
import type { Face } from './operations';

/** Tools over MCP, called with every member of rows, since that is what the other APIs return. */
export function mcpFaceOf(schemas: Schemas): Face {
  const members = new Map(
    toolsOf(createRunner(schemas)).flatMap(({ operation, rows }) =>
      rows && rows.usual.length < rows.all.length ? [[operation.name, rows.all] as const] : [],
    ),
  );
  return {
    name: 'MCP',
    call: (caller, { name }, args, { 'idempotency-key': key, ...headers } = {}) => {
      const all = members.get(name);
      const own = { ...(all && { [FIELDS]: all }), ...(key !== undefined && { [IDEMPOTENCY_KEY]: key }) };
      return caller.mcp('tools/call', { name, arguments: { ...args, ...own } }, headers);
    },
    valueOf: (answer) => {
      const [value, ...others] = blocksIn(answer);
      const apart = others.find((text) => text.includes('\n{'));
      return wordsIn(JSON.parse(value!), apart === undefined ? {} : JSON.parse(apart.slice(apart.indexOf('\n'))));
    },
    errorOf: (answer) => {
      const { status, body } = answer;
      if (status >= 400) return body;
      return body.result.isError ? valueIn(answer) : undefined;
    },
  };
}

/** The texts of a tool's answer. */
export function blocksIn({ body }: Answer): string[] {
  return body.result.content.map(({ text }: Json) => text);
}

/** What a tool answers, without outsiders' text. */
export const valueIn = (answer: Answer): Json => JSON.parse(blocksIn(answer)[0]!);

/** A value with outsiders' text back in place. */
function wordsIn(value: Json, words: Json): Json {
  if (typeof value === 'string') {
    const number = /^\(text (\d+)\)$/.exec(value)?.[1];
    return number === undefined ? value : words[number];
  }
  if (Array.isArray(value)) return value.map((one) => wordsIn(one, words));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, wordsIn(member, words)]));
}
