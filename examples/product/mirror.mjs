// Sends the product's data as it changes, and stores what customers' own software did.
import { sync } from '@scopegate/sync';
import { sources } from './mapping.mjs';
import { Notice } from './models.mjs';

const { SCOPEGATE_URL = 'http://127.0.0.1:4000', OPERATOR_SECRET } = process.env;

export function openMirror(database) {
  const mirror = sync({
    database,
    sources,
    gateway: { url: SCOPEGATE_URL, token: OPERATOR_SECRET },
    onFault: ({ collection, id, errors }) => console.error(JSON.stringify({ fault: { collection, id, errors } })),
    onRetry: (error, seconds) => console.error(`${error}; again in ${seconds.toFixed(1)} s`),
  });
  const handle = async ({ id, type, organisation_ref: account, object, origin }) => {
    // what we did ourselves comes back, too
    if (origin?.kind !== 'key') return;
    // the same event may come again
    await Notice.updateOne({ _id: id }, { account, type, object }, { upsert: true });
  };
  return { run: () => Promise.all([mirror.run(), mirror.follow(handle)]), stop: () => mirror.stop() };
}
