import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportRuleFailures, type RuleFailure, withOwnRules } from '../../src/resources/ownRules';
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
export const Task = (task, { fault }) => { fault('/title', 'is wrong'); task.due_at.slice(0, 10); };
export const Lead = () => { throw 'text'; };
export const Visit = () => { throw Object.create(null); };
export const Claim = () => { throw new Error('a\\n'.repeat(600)); };
export const Stock = () => { const error = new Error(); Object.defineProperty(error, 'message', { get() { throw error; } }); throw error; };
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
  ['Task', "threw TypeError: Cannot read properties of undefined (reading 'slice')"],
  ['Lead', 'threw "text", which is not an error'],
  ['Visit', 'threw object, which is not an error'],
  ['Claim', 'threw Error: a a a'],
  ['Stock', 'threw object, which is not an error'],
])('a mistake in the rule %s is a fault of its object that names it, and is reported', async (type, sentence) => {
  const unhandled = jest.fn();
  const failures: RuleFailure[] = [];
  reportRuleFailures((failure) => failures.push(failure));
  process.on('unhandledRejection', unhandled);
  try {
    const { pointer, code, detail = '' } = called(type)?.at(-1) ?? {};
    expect([pointer, code]).toEqual(['', 'rule']);
    expect(detail.startsWith(`the rule of ${type} ${sentence}`)).toBe(true);
    expect(detail.length).toBeLessThanOrEqual(501);
    expect(failures).toEqual([{ type, file: join(folder, 'rules.mjs'), error: expect.any(Error) }]);
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

test('what a rule reported before it threw is kept', () => {
  expect(called('Task')).toMatchObject([{ pointer: '/title', code: 'invalid' }, { code: 'rule' }]);
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
