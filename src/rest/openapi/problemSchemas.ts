import { ERROR_CODES, MOST_FAULTS, REST_ERROR_CODES } from '../../errors';
import type { JsonSchema } from '../../schema/jsonSchema';
import { FAULT_CODES } from './faultCodes';

/** A text whose values are known today, and may be more tomorrow: an enum would make generated clients throw at a new one. */
function openCode(description: string, codes: Readonly<Record<string, string>>): JsonSchema {
  const list = Object.entries(codes).map(([code, meaning]) => `- \`${code}\`: ${meaning}`);
  return {
    type: 'string',
    description: [
      `${description} New ones may be added; take one you do not know as its status says.`,
      '',
      ...list,
    ].join('\n'),
    'x-extensible-enum': Object.keys(codes),
  };
}

const PROBLEM_CODES = Object.fromEntries(
  REST_ERROR_CODES.map((code) => [code, `${ERROR_CODES[code].title}, ${String(ERROR_CODES[code].status)}`]),
);

/** Schemas of error answers (RFC 9457). */
export const PROBLEM_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Address of a page about the code.' },
      title: { type: 'string', description: 'The code in words.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status.' },
      detail: { type: 'string', description: 'What happened, in a sentence.' },
      code: openCode('Stable code to branch on.', PROBLEM_CODES),
      request_id: { type: 'string', description: 'Id of the request; quote it when you report a problem.' },
      required_scope: { type: 'string', description: 'The scope that was missing.' },
      retry_after: { type: 'integer', minimum: 1, description: 'Seconds until another try makes sense.' },
      errors: {
        type: 'array',
        maxItems: MOST_FAULTS,
        description: `The faults found, at most ${String(MOST_FAULTS)}.`,
        items: { $ref: '#/components/schemas/Fault' },
      },
      more_errors: { type: 'integer', minimum: 1, description: 'How many faults there are besides those in `errors`.' },
    },
  },
  Fault: {
    type: 'object',
    description: 'One fault of a request.',
    required: ['code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
      parameter: { type: 'string', description: 'Name of the path or query parameter.' },
      code: openCode('Kind of fault, stable.', FAULT_CODES),
      detail: { type: 'string', description: 'The fault in words.' },
    },
  },
};
