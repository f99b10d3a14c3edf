// node .ci/synced.mjs URL: one document of a product's collection reaches the gateway at URL by @scopegate/sync, which is installed in this folder
// beside the driver. MONGODB_URI is that of both, OPERATOR_SECRET a token of the gateway.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// resolved from this folder, as a program in it would
const here = createRequire(join(process.cwd(), 'app.js'));
const { MongoClient } = here('mongodb');
const { sync } = await import(pathToFileURL(join(process.cwd(), 'node_modules/@scopegate/sync/dist/index.js')));

const [url] = process.argv.slice(2);
const { MONGODB_URI, OPERATOR_SECRET: token } = process.env;
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const operator = async (method, path, body) => {
  const response = await fetch(`${url}/operator/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

await operator('POST', '/organisations', { name: 'Acme', external_ref: 'acme' });
const client = await MongoClient.connect(MONGODB_URI);
try {
  const database = client.db('product');
  await database.collection('clients').insertOne({ account: 'acme', name: 'Ann Lee' });
  const mirror = sync({
    ...{ database, gateway: { url, token } },
    sources: [
      {
        ...{ collection: 'clients', type: 'customer' },
        organisation: ({ account }) => account,
        map: ({ name }) => ({ name }),
      },
    ],
    onFault: (fault) => {
      throw new Error(JSON.stringify(fault));
    },
  });
  const { created } = await mirror.backfill();
  if (created !== 1) throw new Error(`${created} were created, not 1`);
} finally {
  await client.close();
}
console.log('the sync of a product’s data works');
