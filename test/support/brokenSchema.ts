import { type DocumentNode, parse, print, visit } from 'graphql';
import { collections, resolvers } from '../../src/resources';
import { refuseGaps } from '../../src/schema/gaps';
import { mergeResolvers, type Resolvers } from '../../src/operations/run';
import { loadDocument } from '../../src/schema/sdl';
import type { CheckedResource } from '../../src/schema/gaps/sentences';
import { settingsResolvers } from '../../src/settings/resolvers';
import { webhookResolvers } from '../../src/webhooks/resolvers';

/* The published schema with parts replaced, and the server's errors about it. */

// without descriptions, whose words could match instead of fields
export const SDL = print(
  visit(loadDocument(), { enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined) }),
);
const ALL = mergeResolvers(resolvers, settingsResolvers, webhookResolvers);

/** The errors the server rejects it with; `own` are further resolvers. */
export function gapsOf(
  document: DocumentNode,
  resources: readonly CheckedResource[] = collections,
  own: Resolvers = {},
): string {
  try {
    refuseGaps(document, mergeResolvers(ALL, own), resources);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The SDL with one part replaced, which must exist. */
export function broken(from: string | RegExp, to: string): DocumentNode {
  const sdl = SDL.replace(from, to);
  if (sdl === SDL) throw new Error(`the SDL does not contain ${String(from)}`);
  return parse(sdl);
}
