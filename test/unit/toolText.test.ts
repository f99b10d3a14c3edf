import { withoutOmitted } from '../../src/mcp/tools';

const TEXT =
  'What a machine\nis (on REST, `kind`). Version 1.5 has it.\n\nRequires the scope `machines:read`.\n\nAn own note without a full stop';

test('the text of a tool is its description, without what is said of other APIs and of scopes', () => {
  expect(withoutOmitted(TEXT, true)).toBe('What a machine is. Version 1.5 has it. An own note without a full stop');
  expect(withoutOmitted('An own note\n\nRequires the scope `machines:read`.', true)).toBe('An own note');
});

test('of the description of an argument of a read, only the first sentence is left', () => {
  expect(withoutOmitted(TEXT, false)).toBe('What a machine is.');
  expect(withoutOmitted(undefined, false)).toBe('');
});
