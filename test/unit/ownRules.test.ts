import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOwnRules } from '../../src/resources/ownRules';
import { useFolder } from '../../src/sdl/folder';

/* What rules of the user may return and say; each type has a rule with a mistake of its own. */

const RULES = `
const late = async () => { throw new Error('too late'); };
export const Product = () => late();
export const Customer = () => ({ then() { throw new Error('no promise'); } });
export const Quote = (quote, { fault }) => fault('due_on', 'must be set');
export const Order = (order, { fault }) => fault();
export const Request = (request, { fault }) => fault('/subject', 5);
export const Message = (message, { fault }) => fault('/body', 5n);
export const Receipt = (receipt, { fault }) => fault('/total', { toJSON() { throw new Error('by test'); } });
export const Offer = (offer, { fault }) => fault('/title', 'x'.repeat(600));
export const Note = (note) => { note.tags.push('b'); note.metadata.a = 'c'; delete note.id; };
export const Invoice = (invoice, { fault }) => { fault('', 'is wrong'); fault('/lines/0', 'is wrong'); return 1; };
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scopegate-rules-'));
  writeFileSync(join(folder, 'rules.mjs'), RULES);
  useFolder(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const called = (type: string) => withOwnRules(type).rules?.({ id: '1' });

test.each([
  ['Product', 'returns a promise, but rules are synchronous'],
  ['Customer', 'returns a promise, but rules are synchronous'],
  ['Quote', `calls fault("due_on", "must be set"): write fault('/member', 'must …')`],
  ['Order', 'calls fault(undefined, undefined): write'],
  ['Request', 'calls fault("/subject", 5): write'],
  ['Message', 'calls fault("/body", 5): write'],
  ['Receipt', 'calls fault("/total", object): write'],
])('a mistake in the rule %s is an error that names it', async (type, sentence) => {
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  try {
    expect(() => called(type)).toThrow(`rules.mjs: the rule ${type} ${sentence}`);
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

test('a fault is of the whole object or of a member, and what else a rule returns is ignored', () => {
  expect(called('Invoice')).toEqual([
    { pointer: '', code: 'invalid', detail: 'is wrong' },
    { pointer: '/lines/0', code: 'invalid', detail: 'is wrong' },
  ]);
});

test('the detail of a fault is cut after 500 characters', () => {
  expect(called('Offer')).toMatchObject([{ detail: `${'x'.repeat(500)}…` }]);
});

test('a rule has an object of its own: what it changes there changes nothing else', () => {
  const note = { id: '1', tags: ['a'], metadata: { a: 'b' } };
  expect(withOwnRules('Note').rules?.(note)).toEqual([]);
  expect(note).toEqual({ id: '1', tags: ['a'], metadata: { a: 'b' } });
});
