import { randomUUID } from 'node:crypto';
import { databaseName } from '../../../src/mongo/databaseNames';
import { eventually } from '../../api/http/eventually';
import { driver } from '../../support/gateway';
import { watch, watchedGateway } from '../../support/watchdog';

/* Rows that another program writes without their search words, as large as they can be. */

const gateway = watchedGateway({ EVENTS: 'on' });
const bare = driver();

const ROWS = 400;
/** Letters that take long to normalise, as many as a description may have. */
const TEXT = Array.from({ length: 1700 }, (_none, at) => `ế${String(at % 10)}`)
  .join(' ')
  .slice(0, 5000);
const BODY = TEXT.repeat(4);
const PATIENCE = 120_000;

test('filling in the words of many large rows, and of threads with many long messages, holds up nobody', async () => {
  const database = bare.db(databaseName(gateway.organisation));
  const [products, threads] = [database.collection('products'), database.collection('requests')];
  const at = new Date();
  const times = { created_at: at, updated_at: at };
  const product = (): object => {
    const id = randomUUID();
    return {
      _id: id,
      sku: id,
      name: 'A',
      description: TEXT,
      uom: 'each',
      currency: 'EUR',
      vat_exempt: false,
      active: true,
      ...times,
    };
  };
  const message = (request_id: string): object => ({
    _id: randomUUID(),
    request_id,
    author: 'customer',
    author_name: null,
    body: BODY,
    created_at: at,
  });
  await watch(gateway, 'rows without search words', async () => {
    await products.insertMany(Array.from({ length: ROWS }, product));
    const thread = randomUUID();
    await threads.insertOne({ _id: thread as never, subject: 'A', status: 'open', ...times });
    await database.collection('messages').insertMany(Array.from({ length: ROWS }, () => message(thread)));
    const lacking = { search: { $exists: false } };
    await eventually(async () => (await products.countDocuments(lacking)) === 0, PATIENCE);
    await eventually(async () => (await threads.findOne({ _id: thread as never }))?.message_count === ROWS, PATIENCE);
  });
});
