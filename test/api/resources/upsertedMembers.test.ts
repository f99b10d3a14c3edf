import type { Json } from '../../support/client';
import { ask, FACES, REST } from '../../support/faces';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { newKey, UPSERT_CALLS, upserting, upsertOf, written } from '../../support/upserts';

/* What is stored of the members of a product or customer: numbers, texts, keys, and lists of contacts. */

const gateway = served();
const caller = late(() => callerOf(gateway));

const ADDRESS = { line1: '1 Mill Lane', city: 'Leeds', country: 'UK' };

const BIGGEST = Number.MAX_SAFE_INTEGER;

describe.each(FACES)('upserting a product in $name', (face) => {
  const { call, report, element, stored } = upserting(upsertOf('products'), face, () => caller);

  test.each<[string, Json]>([
    ['a sku of 64 characters', { sku: 's'.repeat(64 - face.name.length) + face.name }],
    ['a name of 200 letters of four bytes', { name: '𝕏'.repeat(200) }],
    ['a description of 5,000 characters', { description: 'd'.repeat(5000) }],
    ['a price of 0', { unit_price_minor: 0 }],
    ['a recently added currency', { currency: 'XCG' }],
  ])('stores %s unchanged', async (_title, members) => {
    const one = element(members);
    expect((await report([one])).created).toBe(1);
    expect(await stored(one)).toMatchObject(members);
  });

  test('stores a price of 2^53-1 exactly', async () => {
    const one = element({ unit_price_minor: BIGGEST });
    await report([one]);
    const { id } = await stored(one);
    expect((await caller.get(`/products/${String(id)}`)).text).toContain('"unit_price_minor":9007199254740991');
  });

  test.each([BIGGEST + 1, 1.5, '100', true, 1e300])('rejects a price of %p', async (price) => {
    const one = element({ unit_price_minor: price });
    const { problem, data } = await call([one, element()]);
    if (face === REST) expect(data).toMatchObject({ failed: 1, created: 1 });
    else expect(problem?.status).toBe(400);
    expect(await stored(one)).toBeUndefined();
  });

  test("uses the organisation's currency if omitted", async () => {
    const euro = await gateway.control.organisations.create({ name: 'Euro', plan: 'integrations', currency: 'EUR' });
    const other = await callerOf(gateway, euro);
    const products = [
      { sku: newKey(), name: 'Bolt' },
      { sku: newKey(), name: 'Bolt', currency: null },
    ];
    await ask(face, other, 'upsert_products', { products });
    const { data } = await ask(face, other, 'products');
    expect(data.map(({ currency }: Json) => currency)).toEqual(['EUR', 'EUR']);
  });
});

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

const CONTROLS = [
  ...[0, 1, 8, 0xb, 0xc, 0x1b, 0x1f, 0x7f, 0x80, 0x9f].map((point) => String.fromCharCode(point)),
  ...['\r', '\n\r'],
];
const BLANKS = [' ', '\t', '\n', '\u00a0', '\u3000', '\ufeff'];

describe.each(UPSERT_CALLS)('a text of $list in $face_name', ({ kind, face }) => {
  const { list, key } = kind;
  const { report, element, stored } = upserting(kind, face, () => caller);
  const faults = async (elements: Json[]): Promise<string[]> =>
    (await report(elements)).results.map(({ errors }: Json) =>
      errors.map(({ pointer, code }: Json) => `${String(pointer)} ${String(code)}`).join(),
    );

  test('must not contain control characters except tabs and line breaks', async () => {
    expect(await faults(CONTROLS.map((control) => element({ name: `a${control}b` })))).toEqual(
      CONTROLS.map((_control, at) => `/${list}/${String(at)}/name format`),
    );
    expect(await faults([element({ [key]: `${newKey()}\u0000` })])).toEqual([`/${list}/0/${key} format`]);
    const kept = element({ name: 'a\tb\nc\r\nd' });
    expect(await faults([kept])).toEqual(['']);
    expect(await stored(kept)).toMatchObject({ name: kept.name });
  });

  test('that is a name or key must not be blank', async () => {
    expect(await faults(BLANKS.map((blank) => element({ name: blank })))).toEqual(
      BLANKS.map((_blank, at) => `/${list}/${String(at)}/name length`),
    );
    expect(await faults([element({ [key]: ' \n' })])).toEqual([`/${list}/0/${key} length`]);
  });

  test('that is a key is normalised to NFC, and keeps its case and white space', async () => {
    const composed = `${newKey()} caf\u00e9`;
    const decomposed = composed.normalize('NFD');
    const { results, ...counts } = await report([
      { [key]: decomposed, name: 'Hex bolt' },
      { [key]: composed, name: 'B' },
    ]);
    expect([counts.created, results[0][key], results[1].errors[0].code]).toEqual([1, decomposed, 'duplicate']);
    for (const asked of [composed, decomposed]) {
      expect(await stored({ [key]: asked })).toMatchObject({ [key]: composed, name: 'Hex bolt' });
    }
    expect(await report([{ [key]: composed, name: 'Hex bolt' }])).toMatchObject({ unchanged: 1 });
    const padded = element({ [key]: ` ${composed.toUpperCase()} ` });
    expect(await report([padded])).toMatchObject({ created: 1 });
    expect(await stored(padded)).toMatchObject({ [key]: padded[key] });
  });

  test('that is a key is measured after normalisation', async () => {
    // a letter that becomes two characters in NFC
    expect(await faults([element({ [key]: '\u0958'.repeat(33) })])).toEqual([`/${list}/0/${key} length`]);
  });
});

describe.each(FACES)('in $name', (face) => {
  test('the same rules apply to texts inside a customer', async () => {
    const { report, element } = upserting(upsertOf('customers'), face, () => caller);
    const { results } = await report([
      element({
        billing_address: { ...ADDRESS, line2: 'a\u0000' },
        contacts: [{ name: ' ' }, { name: 'Ann', role: '\u001b[2J' }, { name: 'Bob', email: '', phone: '' }],
        phone: '',
      }),
    ]);
    expect(results[0].errors.map(({ pointer, code }: Json) => `${String(pointer)} ${String(code)}`).sort()).toEqual([
      '/customers/0/billing_address/line2 format',
      '/customers/0/contacts/0/name length',
      '/customers/0/contacts/1/role format',
      '/customers/0/contacts/2/email format',
      '/customers/0/contacts/2/phone length',
      '/customers/0/phone length',
    ]);
  });
});

test('a request keeps the line breaks of its text, including CRLF', async () => {
  const text = 'Dear all\r\n\r\n\tdo you deliver?\nAnn';
  const { id } = await ask(REST, caller, 'open_request', { text });
  expect((await ask(REST, caller, 'request_messages', { id })).data[0].body).toBe(text);
});
