import { NDJSON, NDJSON_LIMITS, PIECE } from '../http/ndjson';
import { SCHEMA_ROOT } from '../schema/jsonSchema';
import { ELEMENTS_PER_POINT, MEBIBYTE, SECOND } from '../units';
import { HEAD_TOO_LARGE, headerRefs, responseRefs } from './answers';
import type { Api } from './apis';
import type { OpenApiOperation } from './types';

/* The stream of writes to many organisations: lines, which OpenAPI 3.1 can only describe in words. */

const count = (of: number): string => of.toLocaleString('en');
const mebibytes = (of: number): string => `${String(of / MEBIBYTE)} MiB`;
const { lines, bytes, line, time } = NDJSON_LIMITS;

const DESCRIPTION = `Write objects of many organisations: lines of JSON, at most ${count(lines)} lines and ${mebibytes(bytes)}, each line at most ${mebibytes(line)}. Each is an element of \`POST /organisations/{id}/writes\`
with \`organisation\`: its id, or \`ref:\` and its external_ref. The elements of one organisation keep their order, and are stored in transactions of up to ${count(PIECE.lines)}; a line that
cannot be stored fails alone. The answer is a line per line, in the same order, while the body is still being sent: a \`WriteResult\`, whose pointers begin at the line.

Lines have no answer if the gateway stops, the body takes more than ${String(time / SECOND)} s, the connection breaks, or the answer is 500 or 503. They may have been stored: send them again, which is safe, with a \`version\`
also if others write the same objects meanwhile. There is no \`Idempotency-Key\`. The line that exceeds the limit of lines or of the body fails with \`size\`
and is the last one answered. A line that is too long (\`length\`) or too large for a transaction (\`size\`, too) fails alone. Costs a point per ${String(ELEMENTS_PER_POINT)} lines, rounded up.

Requires an operator token.`;

const EXAMPLES = [
  { organisation: 'ref:acme', type: 'product', put: { external_ref: 'p-1', sku: 'NW-001', name: 'Chai' }, version: 3 },
  { organisation: 'ref:zenith', type: 'order', patch: { external_ref: 'o-9', status: 'completed' } },
];
const RESULTS = [
  {
    index: 0,
    type: 'product',
    id: '689defbf-4477-5b15-966e-4830b650ded3',
    external_ref: 'p-1',
    outcome: 'created',
    errors: [],
  },
  {
    index: 1,
    type: 'order',
    id: null,
    external_ref: 'o-9',
    outcome: 'failed',
    errors: [
      {
        pointer: '/organisation',
        code: 'not_found',
        detail:
          'is neither the id of an organisation nor `ref:` and its external_ref; create it first with POST /organisations',
      },
    ],
  },
];

const linesOf = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

export function writeLines(api: Api): OpenApiOperation {
  const operation = {
    operationId: 'write_lines',
    summary: 'Write objects of many organisations: lines of JSON.',
    description: DESCRIPTION,
    tags: ['writes'],
    security: [{ [api.security[0]]: [] }],
    parameters: [],
    requestBody: {
      required: true,
      content: { [NDJSON]: { schema: { type: 'string' }, example: linesOf(EXAMPLES) } },
    },
    responses: {
      200: {
        description: 'A `WriteResult` a line.',
        headers: headerRefs(api.headers),
        content: {
          [NDJSON]: {
            schema: { type: 'string', 'x-line': { $ref: `${SCHEMA_ROOT}WriteResult` } },
            example: linesOf(RESULTS),
          },
        },
      },
      ...responseRefs([400, 401, 405, 413, 415, 429, 500, 503], api),
      431: HEAD_TOO_LARGE,
    },
  };
  // the type of operations has no body but JSON
  return operation as unknown as OpenApiOperation;
}
