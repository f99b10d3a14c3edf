import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { published } from '../../src/schema/model';
import { ownFolder } from '../../src/sdl/folder';
import { buildOpenApi, type OpenApiDocument } from '../../src/openapi';
import { checkWith, createAjv, requireSchema } from '../../src/schema/validation';

function read(file: string): OpenApiDocument {
  return JSON.parse(readFileSync(join(__dirname, '..', '..', file), 'utf8')) as OpenApiDocument;
}

/** The committed document, or with a schema of the user's the one made from it. */
export const document = ownFolder() === undefined ? read('openapi.json') : buildOpenApi(published);
export const operatorDocument = read('openapi.operator.json');

/** Throws unless a REST answer matches the published document: status, type, headers and body. */
export const expectDescribed = describing(document);

/** What throws unless a REST answer matches a document. */
export function describing(document: OpenApiDocument) {
  const ajv = createAjv().addSchema(document, 'openapi');
  return (method: string, path: string, status: number, headers: Headers, body: unknown): void => {
    const found = findOperation(document, method, path);
    if (!found) return;
    const { template, operation } = found;
    const pointer = `openapi#/paths/${template.replaceAll('/', '~1')}/${operation}/responses/${String(status)}`;
    const described = describedAt(document, template, operation, status);
    if (!described) throw new Error(`${method} ${path} returned ${String(status)}, which is not in the document`);
    for (const [name, { $ref }] of Object.entries(described.headers ?? {})) {
      if (isRequired(document, $ref) && !headers.has(name))
        throw new Error(`${method} ${path}: ${String(status)} lacks the header ${name}`);
    }
    const [type = ''] = Object.keys(described.content ?? {});
    // a file, which is described by its headers
    if (type === '*/*') return;
    const actual = (headers.get('content-type') ?? '').split(';')[0];
    if (actual !== type) throw new Error(`${method} ${path}: content type ${String(actual)} is not ${type}`);
    if (type === '') return;
    const base = '$ref' in described.raw ? `openapi${String(described.raw.$ref)}` : pointer;
    const { faults } = checkWith(
      requireSchema(ajv, `${base}/content/${type.replaceAll('/', '~1').replace('+', '%2B')}/schema`),
    )(body);
    if (faults.length > 0)
      throw new Error(`${method} ${path}: ${JSON.stringify(faults)} in ${JSON.stringify(body).slice(0, 500)}`);
  };
}

function isRequired(document: OpenApiDocument, reference: string): boolean {
  const header = document.components.headers?.[reference.slice(reference.lastIndexOf('/') + 1)];
  if (!header) throw new Error(`${reference} is not in the document`);
  return (header as { required?: boolean }).required === true;
}

interface Described {
  readonly raw: Record<string, unknown>;
  readonly headers?: Record<string, { readonly $ref: string }>;
  readonly content?: Record<string, unknown>;
}

function describedAt(
  document: OpenApiDocument,
  template: string,
  operation: string,
  status: number,
): Described | undefined {
  const raw = document.paths[template]?.[operation]?.responses[status] as Record<string, unknown> | undefined;
  if (!raw) return undefined;
  const name = typeof raw.$ref === 'string' ? raw.$ref.slice(raw.$ref.lastIndexOf('/') + 1) : undefined;
  const whole = name === undefined ? raw : (document.components.responses?.[name] as Record<string, unknown>);
  return { raw, ...(whole as Omit<Described, 'raw'>) };
}

/** The path template and method in the document that match a request; undefined for other routes. */
function findOperation(
  document: OpenApiDocument,
  method: string,
  path: string,
): { template: string; operation: string } | undefined {
  const operation = method.toLowerCase().replace('head', 'get');
  const segments = path.split('?')[0]!.split('/');
  const templates = Object.keys(document.paths).sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')));
  const template = templates.find((candidate) => {
    const parts = candidate.split('/');
    return parts.length === segments.length && parts.every((part, at) => part.startsWith('{') || part === segments[at]);
  });
  return template !== undefined && document.paths[template]?.[operation] ? { template, operation } : undefined;
}
