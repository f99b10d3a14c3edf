import { GraphQLError } from 'graphql/error/GraphQLError';

/** Why a file of SDL cannot be read, with the line of a syntax error: `my-api/invoices.graphql:3: Syntax Error: …`. */
export function readFault(path: string, error: unknown): string {
  const line = error instanceof GraphQLError ? error.locations?.[0]?.line : undefined;
  return `${path}${line === undefined ? '' : `:${String(line)}`}: ${(error as Error).message}`;
}
