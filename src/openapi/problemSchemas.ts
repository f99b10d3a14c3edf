import { ERROR_CODES, MAX_FAULTS } from '../errors';
import { FAULT_CODES } from '../errors/faultCodes';
import type { JsonSchema } from '../schema/jsonSchema';
import type { ERROR_SCHEMAS } from '../schema/openApiNames';
import type { Api } from './apis';

/** A string with known values that may get new ones; not an enum, since generated clients would throw on new values. */
function openCode(description: string, codes: Readonly<Record<string, string>>): JsonSchema {
  const list = Object.entries(codes).map(([code, meaning]) => `- \`${code}\`: ${meaning}`);
  return {
    type: 'string',
    description: [`${description} New codes may be added; handle unknown codes by the HTTP status.`, '', ...list].join(
      '\n',
    ),
    'x-extensible-enum': Object.keys(codes),
  };
}

/** The titles of the codes with these statuses, by code. */
function titlesOf(used: ReadonlySet<number>, api: Api): Record<string, string> {
  const codes = api.codes.filter((code) => used.has(ERROR_CODES[code].status));
  return Object.fromEntries(
    codes.map((code) => [code, `${ERROR_CODES[code].title}, ${String(ERROR_CODES[code].status)}`]),
  );
}

/** Schemas of error responses (RFC 9457). */
export const problemSchemas = (
  used: ReadonlySet<number>,
  api: Api,
): Readonly<Record<(typeof ERROR_SCHEMAS)[number], JsonSchema>> => ({
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'URL of a page about the code.' },
      title: { type: 'string', description: 'Short description of the code.' },
      status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'HTTP status.' },
      detail: { type: 'string', description: 'What went wrong in this request.' },
      code: openCode('Stable code to branch on.', titlesOf(used, api)),
      request_id: { type: 'string', description: 'Id of the request; include it when you contact support.' },
      ...(api.codes.includes('insufficient_scope') && {
        required_scope: { type: 'string', description: 'The scope that the key lacks.' },
      }),
      retry_after: { type: 'integer', format: 'int32', minimum: 1, description: 'Seconds to wait before retrying.' },
      errors: {
        type: 'array',
        maxItems: MAX_FAULTS,
        description: `The faults of the request, at most ${String(MAX_FAULTS)}.`,
        items: { $ref: '#/components/schemas/Fault' },
      },
      more_errors: {
        type: 'integer',
        format: 'int32',
        minimum: 1,
        description:
          'Number of faults that are not listed in `errors`; of a bulk call with very many, at least so many.',
      },
    },
  },
  Fault: {
    type: 'object',
    description: 'One fault of a request.',
    required: ['code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
      parameter: { type: 'string', description: 'Name of the path or query parameter.' },
      code: openCode('Stable code of the fault.', FAULT_CODES),
      detail: { type: 'string', description: 'Human-readable description of the fault.' },
    },
  },
});
