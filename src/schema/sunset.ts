import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { directiveOf, rootFieldNodes, stringArgument } from './sdl';

/** The announced end of an operation, as @sunset declares it. */
export interface Sunset {
  /** Since when it is deprecated. */
  readonly since: Date;
  /** When it stops working. */
  readonly on: Date;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function sunsetOf(field: FieldDefinitionNode): Sunset | undefined {
  const directive = directiveOf(field, 'sunset');
  if (!directive) return undefined;
  return { since: new Date(stringArgument(directive, 'since')), on: new Date(stringArgument(directive, 'on')) };
}

/** A sentence for each gap, which says what to write where. */
export function sunsetGaps(document: DocumentNode): string[] {
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const directive = directiveOf(field, 'sunset');
    if (!directive) return [];
    const [since, on] = [stringArgument(directive, 'since'), stringArgument(directive, 'on')];
    const gaps = [since, on]
      .filter((day) => !DAY.test(day) || Number.isNaN(Date.parse(day)))
      .map((day) => `has @sunset with ${day}: write days as 2026-11-21`);
    if (gaps.length === 0 && since >= on)
      gaps.push('has @sunset(on:) no later than since: give callers time between the two');
    if (!directiveOf(field, 'deprecated'))
      gaps.push('has @sunset and no @deprecated: add the reason, which says what to use instead');
    return gaps.map((gap) => `${kind}.${field.name.value} ${gap}`);
  });
}
