import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { eraseCustomer } from '../../../../src/resources/eraseCustomer';
import { eventually } from '../../../api/http/eventually';
import { type Json, readAll } from '../../../support/client';
import { northwind } from '../../../support/factories';
import { byId } from './programs';
import { type Jobs, ndjson, PATIENCE } from './scene';

/* The job that keeps customers in step both ways. */

export function customers({ ended, killed, file, meet, seen, copy, gateway, scene, expiredCursor }: Jobs): void {
  test('customers are in step both ways: no change of others is lost, none happens twice, and who is erased stays erased', async () => {
    const [one, other, gone] = northwind('customers').slice(0, 3) as Json[];
    const second = { ...one.contacts[0], id: randomUUID(), name: 'Second', primary: false };
    const customers = [{ ...one, contacts: [...one.contacts, second] }, ...northwind('customers').slice(1, 12)];
    const of = await scene('customers', { customers });
    const { caller, key } = of;
    const inStep = async (): Promise<void> => {
      await eventually(async () => {
        expect(await ended(key, 'customers')).toMatchObject({ code: 0 });
        const rows = byId(await readAll(caller, '/customers', { limit: 100 }));
        return (
          JSON.stringify(Object.entries(await copy('customers')).sort()) === JSON.stringify(Object.entries(rows).sort())
        );
      }, PATIENCE);
    };
    await inStep();
    const change = (row: Json, was: unknown, is: string): object => ({
      customer_id: row.id,
      contact_id: row.contacts[0].id,
      member: 'phone',
      was,
      is,
    });
    const { phone } = one.contacts[0];
    await writeFile(file('changes.ndjson'), ndjson([change(one, phone, '1'), change(gone, 'what it never was', '2')]));
    const contacts = [customers[0].contacts[0], { ...second, role: 'Kept' }];
    meet('before', /PATCH/, () => caller.patch(`/customers/${one.id}`, { contacts }));
    // the first is refused with 412
    meet('after', /PATCH/, () => Promise.resolve());
    await killed('after', /PATCH/, key, 'customers');
    const { said } = await ended(key, 'customers');
    expect(said).toMatch(/"1"\} stored already\n/);
    expect(said).toMatch(/refused: somebody else changed it to /);
    const { body } = await caller.get(`/customers/${one.id}`);
    expect(body.contacts).toMatchObject([{ phone: '1' }, { name: 'Second', role: 'Kept' }]);
    expect(seen(/PATCH/)).toHaveLength(2);
    await of.rows('customers').deleteOne({ _id: gone.id });
    const data = gateway.databases.organisationData(of.organisation);
    await eraseCustomer(data, other.id, { by: 'operator', signal: new AbortController().signal });
    await writeFile(
      file('changes.ndjson'),
      ndjson([
        { ...change(one, null, '0'), member: 'fax' },
        change(other, other.contacts[0].phone, '3'),
        change(gone, null, '4'),
      ]),
    );
    const told = await ended(key, 'customers');
    expect(told.said).toContain('refused: a change is of name, role, email, phone, not of fax\n');
    expect(told.said).toMatch(/refused: the customer was erased\n.*refused: There is no such customer/s);
    await inStep();
    expect(JSON.stringify(await copy('customers'))).not.toContain(other.name);
    await caller.patch(`/customers/${one.id}`, { phone: '5' });
    await eventually(async () => {
      const { body: feed } = await caller.get('/events', { object_id: one.id });
      return feed.data.filter(({ changes }: Json) => changes.includes('phone')).length > 0;
    }, PATIENCE);
    await killed('after', /customers\?/, key, 'customers');
    await inStep();
    await writeFile(file('customers/cursor'), await expiredCursor(of));
    await of.rows('customers').deleteOne({ _id: customers[5]!.id });
    await inStep();
  });

  test('customers: a version that is refused again and again, or that has no ETag, ends the program', async () => {
    const [one] = northwind('customers') as [Json];
    const { key, caller } = await scene('customers', { customers: [one] });
    const [{ id: contact_id, phone: was }] = one.contacts;
    await writeFile(
      file('changes.ndjson'),
      ndjson([{ customer_id: one.id, contact_id, member: 'phone', was, is: '1' }]),
    );
    const problem = { code: 'precondition_failed', status: 412, detail: 'Why.', request_id: 'r' };
    for (let times = 0; times < 3; times += 1)
      meet('before', /PATCH/, (response) =>
        response.writeHead(412, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
      );
    expect(await ended(key, 'customers')).toMatchObject({ code: 1, said: expect.stringContaining('etag_refused') });
    expect(seen(/PATCH/)).toHaveLength(3);
    const { text } = await caller.get(`/customers/${one.id}`);
    meet('before', /GET .*customers\//, (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    );
    expect(await ended(key, 'customers')).toMatchObject({ code: 1, said: expect.stringContaining('without an ETag') });
    expect((await caller.get(`/customers/${one.id}`)).text).toBe(text);
  });
}
