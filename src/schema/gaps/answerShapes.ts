import { type DocumentNode, print } from 'graphql';
import type { ResolverTable } from '../resolvers';
import { fieldsOf } from '../sdl';
import { sentences } from './sentences';

/**
 * Finds how a type differs from what the gateway answers: pages, totals and reports have exactly the fields of `shape`, by name, and
 * those that resolvers make.
 */
export function shapeGaps(
  document: DocumentNode,
  type: string,
  shape: Readonly<Record<string, string>>,
  resolvers: ResolverTable,
): string[] {
  const fields = new Map(fieldsOf(document, type).map((field) => [field.name.value, print(field.type)]));
  const others = [...fields.keys()].filter((name) => !Object.hasOwn(shape, name) && !resolvers[type]?.[name]);
  return [
    ...Object.entries(shape).flatMap(([name, wanted]) => {
      const given = fields.get(name);
      return sentences(
        given === undefined && `${type} has no ${name}: add ${name}: ${wanted}`,
        given !== undefined && given !== wanted && `${type}.${name} is ${given}: write ${name}: ${wanted}`,
      );
    }),
    ...others.map((name) => `${type}.${name} is set by nothing, so it would be null: remove it, or add a resolver`),
  ];
}
