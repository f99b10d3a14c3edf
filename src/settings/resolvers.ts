import type { RequestContext } from '../operations/context';
import type { Integrations } from '../organisations/integrations';

/** The operations of the settings page on keys, which {@link Integrations} has by their names. */
export const settingsResolvers = {
  Query: resolversOf(
    'api_keys',
    'api_key',
    'key_usage',
    'organisation_usage',
    'request_log',
    'members',
    'audit_events',
  ),
  Mutation: resolversOf('create_api_key', 'rotate_api_key', 'update_api_key', 'revoke_api_key'),
};

function resolversOf(...names: readonly (keyof Integrations)[]) {
  return Object.fromEntries(
    names.map((name) => [
      name,
      (_: unknown, args: never, { integrations }: RequestContext): unknown => {
        // the guard only admits users, whose context always has this
        if (!integrations) throw new Error('the context of a key has no integrations');
        return integrations[name](args);
      },
    ]),
  );
}
