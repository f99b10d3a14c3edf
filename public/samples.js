/* A request as text to copy. It never contains a key: each language reads SCOPEGATE_KEY from its environment. */

/** The ways to write a request `{ method, url, headers, body }`; `body` is JSON text or undefined. */
export const LANGUAGES = [
  { name: 'curl', write: curlOf },
  { name: 'TypeScript', write: typescriptOf },
  { name: 'Python', write: pythonOf },
];

export function curlOf({ method, url, headers = {}, body }) {
  const isUsual = method === (body === undefined ? 'GET' : 'POST');
  return [
    `curl ${isUsual ? '' : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $SCOPEGATE_KEY"',
    ...Object.entries(typed(headers, body)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}

function typescriptOf({ method, url, headers = {}, body }) {
  const entries = Object.entries(typed(headers, body));
  const data = parsed(body);
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    '  headers: {',
    '    Authorization: `Bearer ${process.env.SCOPEGATE_KEY}`,',
    ...entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    '  },',
    ...(body === undefined
      ? []
      : [
          data === undefined
            ? `  body: ${JSON.stringify(body)},`
            : `  body: JSON.stringify(${indented(JSON.stringify(data, null, 2))}),`,
        ]),
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.json());',
  ].join('\n');
}

function pythonOf({ method, url, headers = {}, body }) {
  const data = parsed(body);
  // requests itself says that json= is JSON
  const entries = Object.entries(data === undefined ? typed(headers, body) : headers);
  return [
    'import os',
    '',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${JSON.stringify(url)},`,
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['SCOPEGATE_KEY']}",`,
    ...entries.map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    '    },',
    ...(body === undefined
      ? []
      : [data === undefined ? `    data=${JSON.stringify(body)},` : `    json=${pythonic(data, '    ')},`]),
    ')',
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n');
}

function typed(headers, body) {
  return body === undefined ? headers : { 'Content-Type': 'application/json', ...headers };
}

/** For a POSIX shell, in which nothing within single quotes has a meaning. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The value of JSON text; undefined for what is none, such as half-typed text. */
function parsed(body) {
  try {
    return body === undefined ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}

function indented(text) {
  return text.replaceAll('\n', '\n  ');
}

const PYTHON = new Map([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

function pythonic(value, indent) {
  const deeper = `${indent}    `;
  const block = (open, parts, close) =>
    parts.length === 0
      ? open + close
      : `${open}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close}`;
  if (Array.isArray(value))
    return block(
      '[',
      value.map((item) => pythonic(item, deeper)),
      ']',
    );
  if (value && typeof value === 'object') {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${pythonic(member, deeper)}`,
    );
    return block('{', members, '}');
  }
  return PYTHON.get(value) ?? JSON.stringify(value);
}
