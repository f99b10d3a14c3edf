import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../package';

const FILE = join(ROOT, 'openapi.json');

/** The OpenAPI document, openapi.json (`npm run openapi`), with the address of the server if that is known. */
export function openApiDocument(publicUrl = ''): object {
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as object;
  return { ...document, servers: [{ url: `${publicUrl}/api/v1` }] };
}
