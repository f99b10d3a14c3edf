import { parse } from 'graphql';
import { includesRole, isRole, NEEDED_ROLES, OPERATOR } from '../../src/auth/roles';
import { readConfig } from '../../src/config';
import { SchemaModel } from '../../src/schema/model';
import { readOperatorDocument } from '../../src/schema/operatorDocument';
import { modelErrors } from '../../src/schema/checks';
import { faultsOf } from '../support/configFaults';

const SECRET = 'a'.repeat(32);

test('tokens are separated by whitespace, commas or semicolons, and one name may have several', () => {
  const other = 'b'.repeat(40);
  for (const between of [' ', '\n', ',', ';', ', ']) {
    expect(readConfig({ OPERATOR_TOKENS: `billing=${SECRET}${between}billing=${other}` }).OPERATOR_TOKENS).toEqual([
      { name: 'billing', secret: SECRET },
      { name: 'billing', secret: other },
    ]);
  }
  expect(readConfig({}).OPERATOR_TOKENS).toEqual([]);
});

test.each([
  [SECRET, 'entry 1 must be name=secret'],
  [`Billing=${SECRET}`, 'entry 1 must be name=secret'],
  [`billing=${SECRET} support=${SECRET.slice(1)}`, 'the secret of entry 2 must have at least 32 characters'],
  [`billing=${SECRET} support=${SECRET}`, 'entry 2 repeats the secret of another'],
])('a wrong token is refused by its number, and its secret is not shown', (given, fault) => {
  const found = JSON.stringify(faultsOf({ OPERATOR_TOKENS: given }));
  expect(found).toContain(fault);
  expect(found).not.toContain('aaaa');
});

test('no user has the role of operators, whatever an identity provider says', () => {
  expect(NEEDED_ROLES.OPERATOR).toBe(OPERATOR);
  expect([isRole(OPERATOR), includesRole('admin', OPERATOR), includesRole('member', OPERATOR)]).toEqual([
    ...[false, false, false],
  ]);
});

test('an operation for other callers in the schema of operators stops the start', () => {
  const document = readOperatorDocument();
  const stray = parse('extend type Query { stray: Job @access(role: ADMIN) }', { noLocation: true });
  const model = new SchemaModel({ ...document, definitions: [...document.definitions, ...stray.definitions] });
  const errors = modelErrors({ sdl: model, isResolved: () => true, unresolved: String }).map(({ text }) => text);
  expect(errors).toContain('Query.stray is not for operators: write @access(role: OPERATOR)');
});

test('the schema of operators has only what its operations reach', () => {
  const names = readOperatorDocument().definitions.flatMap((node) => ('name' in node ? [node.name.value] : []));
  expect(names).toEqual(expect.arrayContaining(['ApiKey', 'WebhookEndpoint', 'KeyUsage', 'Plan', 'Organisation']));
  for (const name of ['Quote', 'Product', 'Me', 'WebhookDelivery', 'Subscription']) expect(names).not.toContain(name);
});
