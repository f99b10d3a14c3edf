/* A request as text to copy: each language reads the key from its environment, SCOPEGATE_KEY. */

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string | undefined;
  /** A file that is the body, in place of `body`; `type` is its media type. */
  readonly file?: { readonly name: string; readonly type: string } | undefined;
  /** Name of the file to save the answer in, if that is no JSON. */
  readonly saveAs?: string | undefined;
  /** Its Idempotency-Key, if it takes one; languages that can make a UUID themselves make one in its place. */
  readonly idempotencyKey?: string | undefined;
}

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** The languages in which a request is shown. */
export const LANGUAGES: readonly { readonly name: string; readonly write: (request: SampleRequest) => string }[] = [
  { name: 'curl', write: curlOf },
  { name: 'TypeScript', write: typescriptOf },
  { name: 'Python', write: pythonOf },
];

export function curlOf({ method, url, headers = {}, body, file, saveAs, idempotencyKey }: SampleRequest): string {
  const isUsual = method === (body === undefined && file === undefined ? 'GET' : 'POST');
  return joined(' \\\n  ', [
    `curl ${isUsual ? '' : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $SCOPEGATE_KEY"',
    ...Object.entries(withType(headers, body, file)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    idempotencyKey !== undefined && `-H ${quoted(`${IDEMPOTENCY_KEY}: ${idempotencyKey}`)}`,
    body !== undefined && `-d ${quoted(body)}`,
    file !== undefined && `--data-binary ${quoted(`@${file.name}`)}`,
    // -f: an error must not end up in the file
    saveAs !== undefined && `-f -o ${quoted(saveAs)}`,
  ]);
}

function typescriptOf({ method, url, headers = {}, body, file, saveAs, idempotencyKey }: SampleRequest): string {
  const entries = Object.entries(withType(headers, body, file));
  const data = parsed(body);
  const text = data === undefined ? JSON.stringify(body) : `JSON.stringify(${indented(JSON.stringify(data, null, 2))})`;
  return joined('\n', [
    file !== undefined && "import { openAsBlob } from 'node:fs';\n",
    saveAs !== undefined && "import { writeFile } from 'node:fs/promises';\n",
    `const response = await fetch(${JSON.stringify(url)}, {`,
    method !== 'GET' && `  method: ${JSON.stringify(method)},`,
    '  headers: {',
    '    Authorization: `Bearer ${process.env.SCOPEGATE_KEY}`,',
    ...entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    idempotencyKey !== undefined &&
      `    // send the same again if you retry\n    "${IDEMPOTENCY_KEY}": crypto.randomUUID(),`,
    '  },',
    body !== undefined && `  body: ${text},`,
    file !== undefined && `  body: await openAsBlob(${JSON.stringify(file.name)}),`,
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    saveAs === undefined
      ? 'console.log(await response.json());'
      : `await writeFile(${JSON.stringify(saveAs)}, new Uint8Array(await response.arrayBuffer()));`,
  ]);
}

function pythonOf({ method, url, headers = {}, body, file, saveAs, idempotencyKey }: SampleRequest): string {
  const data = parsed(body);
  // Python's library sets the type for json= itself
  const entries = Object.entries(data === undefined ? withType(headers, body, file) : headers);
  return joined('\n', [
    'import os',
    idempotencyKey !== undefined && 'import uuid',
    '',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['SCOPEGATE_KEY']}",`,
    ...entries.map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    idempotencyKey !== undefined &&
      `        # send the same again if you retry\n        "${IDEMPOTENCY_KEY}": str(uuid.uuid4()),`,
    '    },',
    body !== undefined &&
      `    ${data === undefined ? `data=${JSON.stringify(body)}` : `json=${pythonic(data, '    ')}`},`,
    file !== undefined && `    data=open(${JSON.stringify(file.name)}, "rb"),`,
    ')',
    'response.raise_for_status()',
    saveAs === undefined
      ? 'print(response.json())'
      : `with open(${JSON.stringify(saveAs)}, "wb") as file:\n    file.write(response.content)`,
  ]);
}

/** The configuration of a client of the Model Context Protocol that reads a file, such as `.mcp.json`; `gateway` is its address. */
export function mcpConfiguration(gateway: string, key: string): string {
  const scopegate = { type: 'http', url: `${gateway}/mcp`, headers: { Authorization: `Bearer ${key}` } };
  return JSON.stringify({ mcpServers: { scopegate } }, null, 2);
}

function joined(separator: string, lines: readonly (string | false)[]): string {
  return lines.filter((line) => line !== false).join(separator);
}

/** Headers with the Content-Type of the body or file, unless they have one. */
function withType(
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  file?: SampleRequest['file'],
): Readonly<Record<string, string>> {
  if (file) return { 'Content-Type': file.type, ...headers };
  return body === undefined ? headers : { 'Content-Type': 'application/json', ...headers };
}

/** For a POSIX shell, in which nothing within single quotes has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The value of JSON text; undefined if it is invalid, such as half-typed text. */
function parsed(body: string | undefined): unknown {
  try {
    return body === undefined ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** A JSON value as a literal of Python; `indent` is that of the line in which it begins. */
function pythonic(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}    `;
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const parts = Object.entries(value).map(
    ([name, member]) => `${deeper}${isList ? '' : `${JSON.stringify(name)}: `}${pythonic(member, deeper)},\n`,
  );
  return parts.length === 0 ? open + close : `${open}\n${parts.join('')}${indent}${close}`;
}
