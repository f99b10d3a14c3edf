import type { Json } from '../../support/client';
import { FACES } from '../../support/faces';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { upserting, upsertOf, written } from '../../support/upserts';

const gateway = served();
const caller = late(() => callerOf(gateway));

const ADDRESS = { line1: '1 Mill Lane', city: 'Leeds', country: 'UK' };
const person = (name: string, members: Json = {}): Json => ({
  name,
  role: null,
  email: null,
  phone: null,
  primary: false,
  ...members,
});

describe.each(FACES)('upserting a customer in $name', (face) => {
  const { report, element, stored } = upserting(upsertOf('customers'), face, () => caller);

  test('replaces a whole address', async () => {
    const one = element({ billing_address: { ...ADDRESS, line2: 'Yard 3', postcode: 'LS1' } });
    await report([one]);
    await report([{ ...one, billing_address: { ...ADDRESS, city: 'York' } }]);
    const { billing_address: address } = await stored(one);
    expect(address).toEqual({ ...ADDRESS, city: 'York', line2: null, region: null, postcode: null });
  });

  describe('with contacts', () => {
    const [ann, bob, cid] = [
      person('Ann', { role: 'Buyer' }),
      person('Bob', { email: 'bob@mill.example' }),
      person('Cid'),
    ];
    /** Stores one list of contacts, then another; returns both as stored. */
    const replace = async (
      first: Json[],
      second: Json[],
    ): Promise<{ before: Json[]; after: Json[]; outcome: string }> => {
      const one = element({ contacts: first });
      await report([one]);
      const { contacts: before } = await stored(one);
      const { results } = await report([{ ...one, contacts: second }]);
      const row = await stored(one);
      expect(written(row).contacts).toEqual(second);
      return { before, after: row.contacts, outcome: results[0].outcome };
    };
    const idOf = (contacts: Json[], name: string): string => contacts.find((contact) => contact.name === name).id;

    test('replaces the list: missing people are removed, new ones get an id', async () => {
      const { before, after } = await replace([ann, bob], [bob, cid]);
      expect(idOf(after, 'Bob')).toBe(idOf(before, 'Bob'));
      expect(before.map(({ id }) => id)).not.toContain(idOf(after, 'Cid'));
    });

    test('leaves an identical list unchanged, including ids', async () => {
      const { before, after, outcome } = await replace([ann, bob, cid], [ann, bob, cid]);
      expect({ outcome, after }).toEqual({ outcome: 'unchanged', after: before });
    });

    test('keeps the ids of people whose position changes', async () => {
      const { before, after, outcome } = await replace([ann, bob, cid], [cid, ann, bob]);
      expect(outcome).toBe('updated');
      for (const name of ['Ann', 'Bob', 'Cid']) expect(idOf(after, name)).toBe(idOf(before, name));
    });

    test('keeps the id of a person whose role and phone number change', async () => {
      const { before, after } = await replace(
        [ann, bob],
        [person('Ann', { role: 'Owner', phone: '2', primary: true }), bob],
      );
      expect(idOf(after, 'Ann')).toBe(idOf(before, 'Ann'));
    });

    test('tells two people with the same name apart by their other members', async () => {
      const [sales, stores] = [person('Ann', { role: 'Sales' }), person('Ann', { role: 'Stores' })];
      const { before, after } = await replace([sales, stores], [stores]);
      expect(after[0].id).toBe(before[1].id);
      const swapped = await replace([sales, stores], [stores, sales]);
      expect(swapped.after.map(({ id }) => id)).toEqual(swapped.before.map(({ id }) => id).reverse());
    });

    test('gives two identical people different ids', async () => {
      const { after } = await replace([], [ann, ann]);
      expect(new Set(after.map(({ id }) => id)).size).toBe(2);
    });

    test('accepts 100 contacts, clears them with an empty list, and keeps them if omitted', async () => {
      const crowd = Array.from({ length: 100 }, (_none, at) => person(`Person ${String(at)}`));
      await replace(crowd, []);
      const one = element({ contacts: crowd });
      await report([one]);
      await report([{ external_ref: one.external_ref, name: 'Renamed' }]);
      expect(written(await stored(one))).toMatchObject({ name: 'Renamed', contacts: crowd });
    });
  });
});
