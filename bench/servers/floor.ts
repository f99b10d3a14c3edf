import { createServer } from 'node:http';
import { mongo } from 'mongoose';
import { databasesOf } from './operations';
import { settings } from './settings';

/* What a read costs at least: one call of the driver, and the documents as they are stored. Knows no key, limit, header or fault. */

const QUOTES = '/api/v1/quotes/';

interface Stored {
  readonly _id: string;
}

async function main(): Promise<void> {
  const { uri, controlDatabase, port, said } = settings();
  const client = await new mongo.MongoClient(uri, { maxPoolSize: 100 }).connect();
  const organisation = await client.db(controlDatabase).collection<Stored>('organisations').findOne({});
  if (!organisation) throw new Error('there is no organisation');
  const quotes = databasesOf(client)(organisation._id).collection<Stored>('quotes');

  async function find(url: string): Promise<unknown> {
    if (url.startsWith(QUOTES)) return quotes.findOne({ _id: url.slice(QUOTES.length) });
    const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
    const rows = quotes.find({ customer_id: query.get('customer_id') }, { projection: { lines: 0 } });
    return rows
      .sort({ created_at: -1, _id: -1 })
      .limit(Number(query.get('limit')))
      .toArray();
  }

  const server = createServer((request, response) => {
    find(request.url ?? '/').then(
      (row) => response.end(JSON.stringify(row)),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.writeHead(500).end();
      },
    );
  });
  server.listen(port, '127.0.0.1', said);
}

void main();
