import { createRequire } from 'node:module';
import { promisify } from 'node:util';

/* A Postman collection made from the OpenAPI document, as Postman imports it, whose requests are sent with the document's examples. */

const OPTIONS = {
  requestParametersResolution: 'Example',
  parametersResolution: 'Example',
  enableOptionalParameters: false,
  folderStrategy: 'Tags',
};

/** Each answer is a success; the tag of a read goes into the next change, as it came. */
const CHECK = `
const { code, headers } = pm.response;
pm.test(pm.request.method + ' ' + pm.request.url.getPath() + ' succeeds', () => pm.expect(code, pm.response.text().slice(0, 500)).to.be.oneOf([200, 201, 304]));
if (code !== 304) pm.test('and answers with JSON', () => pm.response.json());
if (headers.has('ETag')) pm.collectionVariables.set('etag', headers.get('ETag'));
`;

/** @param tools the folder with Postman's converter and newman */
export async function runCollection(tools, { url, key, document }) {
  const require = createRequire(`${tools}/`);
  const { convertV2 } = require('openapi-to-postmanv2');
  const { result, reason, output } = await promisify(convertV2)({ type: 'json', data: document }, OPTIONS);
  if (!result) throw new Error(reason);
  const collection = output[0].data;
  collection.event = [{ listen: 'test', script: { type: 'text/javascript', exec: CHECK.trim().split('\n') } }];
  collection.auth = { type: 'bearer', bearer: [{ key: 'token', value: key }] };
  for (const { value } of [{ value: collection }]) value.variable = [{ key: 'baseUrl', value: `${url}/api/v1` }];
  for (const folder of collection.item) folder.item = folder.item.flatMap(repeatable);
  const run = promisify(require('newman').run);
  const { run: done } = await run({ collection, reporters: [], timeout: 120_000, iterationCount: 2 });
  const failed = done.failures.map(({ error, source }) => `${source?.name}: ${error.message}`);
  if (failed.length > 0) throw new Error(failed.join('\n'));
  return done.stats.requests.total;
}

/** The request so that it can be sent again, none for one of files: with a key for what must happen once, and the version that was read for changes. */
function repeatable(item) {
  const { method, url, header } = item.request;
  // need a file that a person chooses in Postman, or its id
  if (url.path.includes('attachments')) return [];
  delete item.request.auth;
  item.request.header = header.filter(({ disabled }) => !disabled);
  const set = (key, value) => item.request.header.push({ key, value });
  if (method === 'PATCH') set('If-Match', '{{etag}}');
  if (method === 'POST') set('Idempotency-Key', `postman-${url.path.join('-')}`);
  if (method !== 'GET' || url.path.at(-1) !== ':id') return [item];
  const again = structuredClone(item);
  again.name += ' Again.';
  again.request.header.push({ key: 'If-None-Match', value: '{{etag}}' });
  return [item, again];
}
