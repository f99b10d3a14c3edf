import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import document from '../openapi.json';

/* npm run clients: writes the types of clients/python from openapi.json. With --check it writes nothing, and fails if they are outdated. */

const HEAD = 'Written from openapi.json by `npm run clients`.';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  /** Of an object with any keys: its values. */
  readonly additionalProperties?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Operation {
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;

const SCHEMAS: Readonly<Record<string, Schema>> = document.components.schemas;
const PATHS = document.paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const PYTHON: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

const literal = (values: readonly string[]): string =>
  `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;

/** The Python type of a schema. */
function typeOf({ $ref, type, enum: values, anyOf, items, additionalProperties: members }: Schema): string {
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (values) return literal(values);
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  return [type]
    .flat()
    .map((name) => {
      if (name === 'object' && typeof members === 'object') return `dict[str, ${typeOf(members)}]`;
      return name === 'array' ? `list[${typeOf(items ?? {})}]` : (PYTHON[name ?? ''] ?? 'Any');
    })
    .join(' | ');
}

/** A docstring, indented. */
function docstring(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  const safe = text.trim().replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ');
  return `${indent}"""${safe.replaceAll('\n', `\n${indent}`).replaceAll(/ +$/gm, '')}"""\n`;
}

function pythonType([name, { properties, required = [], description, ...schema }]: [string, Schema]): string {
  if (!properties) return `${name} = ${typeOf(schema)}\n${docstring(description, '')}`;
  const member = (key: string, property: Schema): string =>
    required.includes(key) ? typeOf(property) : `NotRequired[${typeOf(property)}]`;
  // `from` cannot be the name of an attribute
  if ('from' in properties) {
    const members = Object.entries(properties).map(([key, property]) => `"${key}": "${member(key, property)}"`);
    return `${name} = TypedDict("${name}", {${members.join(', ')}})\n${docstring(description, '')}`;
  }
  const members = Object.entries(properties).map(
    ([key, property]) => `    ${key}: ${member(key, property)}\n${docstring(property.description, '    ')}`,
  );
  return `class ${name}(TypedDict):\n${docstring(description, '    ')}\n${members.join('')}`;
}

const types = (): string => `# ${HEAD}
"""The objects of the API. They are dicts; these types are for editors and type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

${Object.entries(SCHEMAS).map(pythonType).join('\n\n')}

class StreamEvent(Event):
    """An event of the stream."""

    cursor: str
    """To go on after this event, pass it as \`after\`."""
`;

/** A signature per operation: `get` and `read` for the same routes, `list` for those with a last page. */
function overloads(method: string): string[] {
  const of = method === 'read' || method === 'list' ? 'get' : method;
  return Object.entries(PATHS).flatMap(([path, operations]) => {
    const operation = operations[of];
    if (!operation) return [];
    const { parameters = [], requestBody, responses, description } = operation;
    const returned = typeOf(
      Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.['application/json']?.schema ??
        {},
    );
    // the client sends and reads JSON alone
    if (returned === 'Any' || (requestBody && !('application/json' in requestBody.content))) return [];
    const page = SCHEMAS[returned]?.properties ?? {};
    const isList = [page.next_cursor?.type].flat().includes('null');
    if (method === 'list' && !isList) return [];
    const given = parameters
      .filter(({ name, in: place }) => place !== 'header' && !(method === 'list' && name === 'cursor'))
      .map(({ name, required, schema }) => `${name}: ${parameterType(schema)}${required ? '' : ' | None = ...'}`);
    if (requestBody) given.push('idempotency_key: str | None = ...');
    if (method === 'patch') given.push('if_match: str | None = ...');
    const body = requestBody ? `body: ${typeOf(requestBody.content['application/json']?.schema ?? {})}, ` : '';
    const result = {
      list: `Iterator[${typeOf(page.data?.items ?? {})}]`,
      read: `tuple[${returned}, str | None]`,
    }[method];
    return [
      `    @overload\n    def ${method}(self, path: ${literal([path])}, ${body}/${['', ...(given.length > 0 ? ['*'] : []), ...given].join(', ')}) -> ${result ?? returned}:\n${docstring(description, '        ')}`,
    ];
  });
}

/** The type of a parameter: a sequence if it can be repeated. */
function parameterType(schema: Schema): string {
  return schema.type === 'array' ? `Sequence[${typeOf(schema.items ?? {})}]` : typeOf(schema);
}

const routes = (): string => `# ${HEAD}
from collections.abc import Iterator, Sequence
from typing import Literal, overload

from .types import ${[...Object.keys(SCHEMAS)].sort().join(', ')}

class Routes:
${['get', 'read', 'list', 'post', 'patch'].flatMap(overloads).join('')}`;

const FOLDER = join(__dirname, 'python', 'src', 'scopegate');

for (const [name, text] of [
  ['types.py', types()],
  ['routes.pyi', routes()],
] as const) {
  const file = join(FOLDER, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${file} is not up to date: npm run clients\n`);
    process.exitCode = 1;
  }
}
