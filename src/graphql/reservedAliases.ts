import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';

/**
 * A validation rule that rejects aliases that begin with two underscores, which GraphQL reserves: a compiled operation would set the
 * prototype of its answer with `__proto__` instead of a member.
 */
export function reservedAliasesRule(context: ValidationContext): ASTVisitor {
  return {
    Field({ alias }) {
      if (!alias?.value.startsWith('__')) return;
      const message = `The alias "${alias.value}" must not begin with "__", which is reserved for introspection.`;
      context.reportError(new GraphQLError(message, { nodes: alias }));
    },
  };
}
