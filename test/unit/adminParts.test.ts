import { Kind, parse, print } from 'graphql';
import { operatorsPart, referredTypes, usersPart } from '../../src/sdl/admin';

/* What signed-in users and operators have of schema/admin.graphql. */

const { definitions } = parse(`
  directive @users_only on ARGUMENT_DEFINITION
  extend enum Role { OPERATOR }
  extend type Query {
    all(id: ID! @constraint(format: "organisation"), limit: Int, search: String @users_only): All
      @rest(path: "/organisations/:id/all") @access(role: MEMBER)
    theirs(id: ID! @constraint(format: "organisation")): Theirs @rest(path: "/theirs") @access(role: OPERATOR)
  }
  extend type Mutation { own(id: ID!): Own @access(role: ADMIN) }
  extend type Mutation { wipe: Theirs @access(role: OPERATOR) }
  type Own { id: ID! }
  type Theirs { id: ID! }
  type All { data: [Row!]! }
  type Row { id: ID! }
`);
const flat = (sdl: string): string => sdl.replaceAll(/\s+/g, ' ').trim();

test('users have what is not for operators only, without routes, in the organisation of their session', () => {
  expect(flat(print({ kind: Kind.DOCUMENT, definitions: usersPart(definitions) }))).toBe(
    flat(`
      type Own { id: ID! }
      type All { data: [Row!]! }
      type Row { id: ID! }
      extend type Query { all(limit: Int, search: String): All @access(role: MEMBER) }
      extend type Mutation { own(id: ID!): Own @access(role: ADMIN) }
    `),
  );
});

test('operators have what has a route or is theirs alone, with their role, in the organisation that they name', () => {
  const { operations, types } = operatorsPart(definitions);
  expect(flat(print({ kind: Kind.DOCUMENT, definitions: [...referredTypes(operations, types), ...operations] }))).toBe(
    flat(`
      type Theirs { id: ID! }
      type All { data: [Row!]! }
      type Row { id: ID! }
      extend enum Role { OPERATOR }
      extend type Query {
        all(id: ID! @constraint(format: "organisation"), limit: Int): All
          @rest(path: "/organisations/:id/all") @access(role: OPERATOR)
        theirs(id: ID! @constraint(format: "organisation")): Theirs @rest(path: "/theirs") @access(role: OPERATOR)
      }
      extend type Mutation { wipe: Theirs @access(role: OPERATOR) }
    `),
  );
});
