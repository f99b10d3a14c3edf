import type { Json } from '../../support/client';
import { ask, FACES, REST } from '../../support/faces';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { newKey, UPSERT_CALLS, upserting, upsertOf } from '../../support/upserts';

/* Which characters texts may contain, and when two keys are the same. */

const gateway = served();
const caller = late(() => callerOf(gateway));

const CONTROLS = [
  ...[0, 1, 8, 0xb, 0xc, 0x1b, 0x1f, 0x7f, 0x80, 0x9f].map((point) => String.fromCharCode(point)),
  ...['\r', '\n\r'],
];
const BLANKS = [' ', '\t', '\n', '\u00a0', '\u3000', '\ufeff'];
const ADDRESS = { line1: '1 Mill Lane', city: 'Leeds', country: 'UK' };
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
