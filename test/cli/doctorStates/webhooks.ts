import { makeOrganisation } from '../commandLine';
import { at, changed, type Make } from './scene';

/* WEBHOOK_SECRET, and endpoints whose secrets derive from it. */

/** Runs doctor with another environment than the one in which an endpoint was created. */
function asked(environment: Record<string, string>): Make {
  return async (scene) => {
    const { cli } = at(scene, 'default');
    const { id } = await makeOrganisation(cli);
    const first = changed(cli, { WEBHOOK_SECRET: 'the first secret that endpoints were made with' });
    await first.json('webhook', 'create', '--org', id, '--url', 'https://example.com/hook');
    return { cli: changed(cli, environment) };
  };
}

export const WEBHOOKS: Readonly<Record<string, Make>> = {
  '`WEBHOOK_SECRET` is another than that of the endpoints': asked({
    WEBHOOK_SECRET: 'another secret than the endpoints were made with',
  }),
  '`WEBHOOK_SECRET` is not set, and there are endpoints': asked({}),
};
