import { CONTENT_TYPES } from '../attachments/contentTypes';
import { FILE_LIMIT } from '../attachments/upload';
import type { Attachable } from '../schema/attachables';
import type { RestOperation } from '../schema/declaredOperations';
import { requirement } from '../schema/requirements';
import { type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';
import { objectName } from '../schema/storedTypes';
import { MEBIBYTE } from '../units';
import { errorResponses, HEAD_TOO_LARGE, headerRefs, responseRefs } from './answers';
import type { Api } from './apis';
import { sampleRow } from './examples';
import { NOT_MODIFIED, READ_CONDITIONS, withExampleKey } from './retries';
import type { OpenApiOperation, Parameter } from './types';

/* The routes of attachments: bytes in a body or an answer, which the SDL cannot describe. */

/** The attachment of the examples: a page of PDF. */
const EXAMPLE = {
  id: 'd3b1f2c4-8a5e-4f60-9b7c-2e1d0a9c8b7f',
  file_name: 'drawing.pdf',
  content_type: 'application/pdf',
  size: 48213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  created_at: '1996-06-29T00:00:00.000Z',
};
const BYTES = { type: 'string', format: 'binary' };
/**
 * A file under the one type that generators of clients take for a file; the description lists the others. Under `application/json` or `text/csv`
 * clients would write it as JSON or as a text (docs/decisions/generated-clients.md).
 */
const fileOf = (schema: JsonSchema) => ({ 'application/octet-stream': { schema } });

type Paths = Record<string, Record<string, OpenApiOperation>>;

/** The operations of all types with attachments, by path and method; they have no root fields, so openapi/index.ts adds them. */
export function attachmentPaths(attachables: readonly Attachable[], api: Api): Paths {
  const paths: Paths = {};
  for (const attachable of attachables) {
    for (const [route, operation] of operationsOf(attachable, api)) {
      const path = route.rest.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.rest.method.toLowerCase()]: operation };
    }
  }
  return paths;
}

function operationsOf({ stored, most, add, read, remove }: Attachable, api: Api): [RestOperation, OpenApiOperation][] {
  const name = objectName(stored.type).replaceAll('_', ' ');
  const idOf = (member: string, description: string, example: unknown): Parameter => ({
    name: member,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', format: 'uuid' },
    example,
  });
  const object = idOf('id', `The ${name}'s id.`, sampleRow(stored.collection)?.id ?? EXAMPLE.id);
  const attachment = idOf('attachment_id', "The attachment's id.", EXAMPLE.id);
  const common = (route: RestOperation, operationId: string, summary: string, more: string) => ({
    operationId,
    summary,
    description: `${summary} ${more}\n\n${requirement(route)}`,
    tags: [stored.collection],
    security: [{ [api.security[0]]: route.scope ? [route.scope] : [] }],
  });
  const answered = (description: string, more: readonly string[] = []) => ({
    description,
    headers: headerRefs([...api.headers, ...more, 'Idempotent-Replayed']),
    content: { 'application/json': { schema: { $ref: `${SCHEMA_ROOT}Attachment` }, example: EXAMPLE } },
  });
  const errorsOf = (route: RestOperation) => errorResponses(route, { api, hasId: true, expires: false });
  const bytes = (description: string, more: readonly string[] = []) => ({
    description,
    headers: headerRefs([...api.headers, 'ETag', 'Accept-Ranges', 'Content-Disposition', ...more]),
    content: { ...fileOf(BYTES), '*/*': { schema: BYTES } },
  });
  // a download is the file, whatever Accept says, so it is never 406
  const { 406: _notAcceptable, ...errorsOfRead } = errorsOf(read);
  const operations: [RestOperation, object][] = [
    [
      add,
      {
        ...common(
          add,
          add.name,
          `Attach a file to a ${name}.`,
          `The body is the file, of at most ${String(FILE_LIMIT / MEBIBYTE)} MiB; a ${name} has at most ${String(most)}. \`Content-Type\` says what it is, and its bytes must be of that type: ${CONTENT_TYPES.map((type) => `\`${type}\``).join(', ')}. The last takes any bytes. Costs a point for each MiB begun.`,
        ),
        parameters: [object, CONTENT_DISPOSITION, withExampleKey(api.idempotencyKey, add.name)],
        requestBody: { required: true, content: fileOf({ ...BYTES, minLength: 1 }) },
        responses: { 201: answered('The attachment.', ['Location']), ...errorsOf(add), 431: HEAD_TOO_LARGE },
      },
    ],
    [
      read,
      {
        ...common(
          read,
          `get_${read.name}`,
          `Download an attachment of a ${name}.`,
          'The answer is the file, or with `Range` a part of it. Browsers save it and never show it. Costs a point for each MiB begun.',
        ),
        parameters: [object, attachment, ...READ_CONDITIONS, RANGE, IF_RANGE],
        responses: {
          200: bytes('The file.'),
          206: bytes('The part of the file that `Range` asks for.', ['Content-Range']),
          304: NOT_MODIFIED,
          ...errorsOfRead,
          ...responseRefs([412, 416], api),
          431: HEAD_TOO_LARGE,
        },
      },
    ],
    [
      remove,
      {
        ...common(remove, remove.name, `Delete an attachment of a ${name}.`, 'The answer is the attachment as it was.'),
        parameters: [object, attachment, withExampleKey(api.idempotencyKey, remove.name)],
        responses: { 200: answered('The attachment as it was.'), ...errorsOf(remove), 431: HEAD_TOO_LARGE },
      },
    ],
  ];
  // the type of operations has no body but JSON
  return operations as [RestOperation, OpenApiOperation][];
}

const header = (name: string, required: boolean, description: string, example: string): Parameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
  example,
});
const CONTENT_DISPOSITION = header(
  'Content-Disposition',
  true,
  'The name of the file (RFC 6266), 1 to 255 bytes in UTF-8, without a folder or control characters: `filename` as it is, or `filename*` percent-encoded.',
  'attachment; filename="drawing.pdf"',
);
const RANGE = header(
  'Range',
  false,
  'The part that is wanted, such as `bytes=1000-1999`, `bytes=1000-` or `bytes=-500`; with several the answer is the whole file.',
  'bytes=0-1023',
);
const IF_RANGE = header(
  'If-Range',
  false,
  'The `ETag` of the part that you have: if the file has another, the answer is the whole file.',
  '"n4bQgYhMfWWaL-qgxVrQFaO_Txs"',
);
