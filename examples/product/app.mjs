// A small product. MONGODB_URI=… SCOPEGATE_URL=… OPERATOR_SECRET=… PORT=3000 npm start
import express from 'express';
import mongoose from 'mongoose';
import { openMirror } from './mirror.mjs';
import { Account, Client, Notice, Quotation } from './models.mjs';
import { actions } from './operator.mjs';

const { MONGODB_URI, PORT = '3000' } = process.env;
await mongoose.connect(MONGODB_URI, { writeConcern: { w: 'majority' } });
const mirror = openMirror(mongoose.connection.db);

const app = express().use(express.json());
const on = (method, path, work) =>
  app[method](path, async (request, response) =>
    response.json((await work(request.params, request.body ?? {})) ?? null),
  );

// the organisation first: what is created from now on belongs to it
on('post', '/accounts', async (_params, { id, name }) => {
  const account = new Account({ ...(id && { _id: id }), name });
  await actions.signUp(account.id, name);
  return Account.findOneAndUpdate({ _id: account.id }, { name }, { upsert: true, new: true });
});
on('post', '/accounts/:account/clients', ({ account }, body) => Client.create({ ...body, account }));
on('post', '/accounts/:account/quotations', ({ account }, body) => Quotation.create({ ...body, account }));
on('patch', '/clients/:id', ({ id }, body) => Client.findByIdAndUpdate(id, body));
on('patch', '/quotations/:id', ({ id }, body) => Quotation.findByIdAndUpdate(id, body));
on('delete', '/quotations/:id', ({ id }) => Quotation.findByIdAndDelete(id));
on('get', '/accounts/:account/notices', ({ account }) => Notice.find({ account }).sort({ createdAt: 1 }));
// a button in the menu
app.get('/accounts/:account/integrations', async ({ params: { account } }, response) => {
  // whoever is signed in here
  const { url } = await actions.integrations(account, '7', 'Ann Lee');
  response.redirect(url);
});
// our data first, so that nothing of it is sent any more
on('delete', '/accounts/:account', async ({ account }) => {
  for (const model of [Quotation, Client, Notice]) await model.deleteMany({ account });
  await Account.deleteOne({ _id: account });
  return actions.close(account);
});

const server = app.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
process.once('SIGTERM', async () => {
  server.close();
  await mirror.stop();
  await mongoose.disconnect();
});
await mirror.run();
