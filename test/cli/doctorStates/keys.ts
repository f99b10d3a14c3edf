import { type CommandLine, type Environment, makeOrganisation } from '../commandLine';
import { at, changed, type Make, type Scene } from './scene';

/* Peppers, and keys that are hashed with them. */

const OLD = { KEY_PEPPER: 'old' };
const BOTH = { KEY_PEPPER: 'new', KEY_PEPPER_PREVIOUS: 'old' };
const NEW = { KEY_PEPPER: 'new' };

/** The command line of an organisation with a key for each of these peppers, in order. */
async function keyed(scene: Scene, ...peppers: readonly Environment[]): Promise<CommandLine> {
  const { cli } = at(scene, 'default');
  const { id } = await makeOrganisation(cli);
  for (const pepper of peppers) {
    await changed(cli, pepper).json('key', 'create', '--org', id, '--name', 'ERP', '--scopes', 'all');
  }
  return cli;
}

/** Runs doctor with these peppers, after keys were created with others. */
function asked(environment: Environment, ...peppers: readonly Environment[]): Make {
  return async (scene) => ({ cli: changed(await keyed(scene, ...peppers), environment) });
}

export const KEYS: Readonly<Record<string, Make>> = {
  '`KEY_PEPPER` is not set': (scene) => Promise.resolve(at(scene, 'default')),
  '`KEY_PEPPER` is another than that of the keys': asked(NEW, OLD),
  'all gateways know the next pepper as `KEY_PEPPER_PREVIOUS`': asked({ ...OLD, KEY_PEPPER_PREVIOUS: 'new' }, OLD),
  '`KEY_PEPPER` is new, and no gateway has started with it': asked(BOTH, OLD),
  'keys that have not been used since `KEY_PEPPER` was replaced': asked(BOTH, OLD, OLD, BOTH),
  'the same, without `KEY_PEPPER_PREVIOUS`': asked(NEW, OLD, OLD, BOTH),
  'keys that have not been used since it was replaced twice': asked(
    { KEY_PEPPER: 'newest', KEY_PEPPER_PREVIOUS: 'new' },
    OLD,
    OLD,
    BOTH,
    { KEY_PEPPER: 'newest', KEY_PEPPER_PREVIOUS: 'new' },
  ),
};
