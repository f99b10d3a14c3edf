import { writeFile } from 'node:fs/promises';
import { type Json, readAll } from '../../../support/client';
import { northwind } from '../../../support/factories';
import { type Jobs, ndjson } from './scene';

/* The job that makes threads of the tickets of a help desk. */

export function helpdesk({ ended, killed, file, scene }: Jobs): void {
  test('each ticket is one thread of its customer with every message once, whenever it was killed; a faulty message waits alone', async () => {
    const addresses = ['Ann@example.com', 'shared@example.com', 'shared@example.com'];
    const customers = northwind('customers').slice(0, 3) as Json[];
    for (const [n, one] of customers.entries()) one.contacts = [{ ...one.contacts[0], email: addresses[n] }];
    const { key, caller } = await scene('helpdesk', { customers });
    const ann = { ticket: 'T-17', name: 'Ann', email: 'ann@example.com' };
    const inbox = [
      { id: 'm-1', ...ann, text: 'Where is my order?' },
      { id: 'm-2', ...ann, text: 'It is SO-10248.' },
      { id: 'm-3', ticket: 'T-17', author: 'organisation', name: 'Sales', text: 'On its way.' },
      { id: 'm-4', ticket: 'T-18', name: 'Bob', text: 'Are you open?' },
      { id: 'm-5', ticket: 'T-17', close: true },
      { id: 'm-6', ticket: 'T-18', author: 'organisation', name: 'Sales', text: 'Until six.' },
      { id: 'm-7', ticket: 'T-19', email: 'shared@example.com', text: 'Who am I?' },
    ];
    const huge = { id: 'm-0', ticket: 'T-21', email: 'eve@example.com', text: 'x'.repeat(2 ** 20) };
    const [eve, stray] = [
      { id: 'm-8', ticket: 'T-20', name: 'Eve', email: 'eve@example.com', text: 'Hello?' },
      { id: 'm-9', ticket: 'T-20', author: 'organisation', name: 'Sales', text: 'Hello.' },
    ];
    await writeFile(file('inbox.ndjson'), ndjson(inbox));
    await killed('after', /POST .*requests$/, key, 'helpdesk');
    await writeFile(file('inbox.ndjson'), ndjson([huge, { ...eve, email: 'eve at example.com' }, stray, ...inbox]));
    // the address belongs to nobody when the program starts again
    await caller.patch(`/customers/${customers[0]!.id}`, { contacts: [] });
    await killed('after', /POST .*messages/, key, 'helpdesk');
    await killed('after', /PATCH/, key, 'helpdesk');
    await ended(key, 'helpdesk');
    const faulty = await ended(key, 'helpdesk');
    expect(faulty.code).toBe(1);
    expect(faulty.said).toMatch(/^m-0: .*\nm-8: \/contact\/email: .*\nm-9: no thread has the external_ref T-20\n$/);
    inbox.push(eve, stray);
    await writeFile(file('inbox.ndjson'), ndjson(inbox));
    expect(await ended(key, 'helpdesk')).toEqual({ code: 0, said: 'm-8\nm-9\n' });
    expect(await ended(key, 'helpdesk')).toEqual({ code: 0, said: '' });
    const threads = await readAll(caller, '/requests', { sort: 'created_at' });
    expect(threads).toMatchObject([
      { external_ref: 'T-17', status: 'closed', contact: { name: 'Ann' }, customer_id: customers[0]!.id },
      { external_ref: 'T-18', status: 'answered', contact: { name: 'Bob', email: null }, customer_id: null },
      { external_ref: 'T-19', status: 'open', contact: { name: 'shared@example.com' }, customer_id: null },
      { external_ref: 'T-20', status: 'answered', contact: { name: 'Eve' }, customer_id: null },
    ]);
    for (const { id, external_ref: ticket } of threads) {
      const messages = await readAll(caller, `/requests/${id}/messages`);
      const sent = inbox.filter((one) => one.ticket === ticket && 'text' in one);
      expect(messages).toMatchObject(
        sent.map(({ name, email, text, author = 'customer' }) => ({ body: text, author, author_name: name ?? email })),
      );
    }
  });
}
