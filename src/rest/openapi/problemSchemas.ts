import { REST_ERROR_CODES } from '../../errors';
import type { JsonSchema } from '../../jsonSchema';

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
      code: { type: 'string', enum: REST_ERROR_CODES, description: 'Stable code to branch on.' },
      request_id: { type: 'string', description: 'Id of the request; quote it when you ask.' },
      required_scope: { type: 'string', description: 'The scope that was missing.' },
      retry_after: { type: 'integer', minimum: 1, description: 'Seconds until another try makes sense.' },
      errors: { type: 'array', description: 'Every fault found.', items: { $ref: '#/components/schemas/Fault' } },
    },
  },
  Fault: {
    type: 'object',
    description: 'One fault of a request.',
    required: ['code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
      parameter: { type: 'string', description: 'Name of the path or query parameter.' },
      code: {
        type: 'string',
        description: 'Kind of fault: required, type, format, length, range, not_allowed, unknown…',
      },
      detail: { type: 'string', description: 'The fault in words.' },
    },
  },
};
