import mongoose from 'mongoose';
import { cursorOfLog } from '../../../src/events/deploymentFeed';
import { type CommandLine, type Environment, makeOrganisation } from '../commandLine';
import { at, changed, type Make, type Scene, type States } from '../../support/fixtures/doctorStates';

/* Peppers and keys that are hashed with them, and WEBHOOK_SECRET and endpoints whose secrets derive from it. */

const OLD = { KEY_PEPPER: 'old' };
const BOTH = { KEY_PEPPER: 'new', KEY_PEPPER_PREVIOUS: 'old' };
const NEW = { KEY_PEPPER: 'new' };

/** The command line of an organisation with a key for each of these peppers, in order. */
async function keyed(scene: Scene, ...peppers: readonly Environment[]): Promise<CommandLine> {
  const { cli } = at(scene);
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

export const KEYS: States = {
  '`KEY_PEPPER` is not set': (scene) => at(scene),
  '`KEY_PEPPER` is not the one that the keys are hashed with': asked(NEW, OLD),
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

const FIRST = 'the first secret that endpoints were made with';

const REPLACED = {
  WEBHOOK_SECRET: 'another secret than the endpoints were made with',
  WEBHOOK_SECRET_PREVIOUS: FIRST,
};

/** Runs doctor with another environment than the one in which an endpoint was created and, in a third, rotated. */
function askedOfWebhooks(environment: Record<string, string>, rotatedIn?: Record<string, string>): Make {
  return async (scene) => {
    const { cli } = at(scene);
    const { id } = await makeOrganisation(cli);
    const first = changed(cli, { WEBHOOK_SECRET: FIRST });
    const made = await first.json<{ id: string }>(
      'webhook',
      'create',
      '--org',
      id,
      '--url',
      'https://example.com/hook',
    );
    if (rotatedIn) await changed(cli, rotatedIn).json('webhook', 'rotate', made.id);
    return { cli: changed(cli, environment), names: [[/until \d{4}-\S+?Z/g, 'until 2026-11-30T09:25:00.000Z']] };
  };
}

const OF_OPERATOR = {
  OPERATOR_WEBHOOK_URL: 'http://127.0.0.1:9/hook',
  OPERATOR_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
};

export const WEBHOOKS: States = {
  '`WEBHOOK_SECRET` does not match the endpoints': askedOfWebhooks({
    WEBHOOK_SECRET: 'another secret than the endpoints were made with',
  }),
  "`WEBHOOK_SECRET` was replaced, and an endpoint's secret was not rotated since": askedOfWebhooks(REPLACED),
  'its secret was rotated less than 24 hours ago': askedOfWebhooks(REPLACED, REPLACED),
  '`WEBHOOK_SECRET_PREVIOUS` was removed before that ended': askedOfWebhooks(
    { WEBHOOK_SECRET: REPLACED.WEBHOOK_SECRET },
    REPLACED,
  ),
  '`WEBHOOK_SECRET` is not set, and there are endpoints': askedOfWebhooks({}),
  '`OPERATOR_WEBHOOK_URL` is set where nothing is sent': (scene) =>
    Promise.resolve({ cli: changed(at(scene).cli, { ...OF_OPERATOR, EVENTS: 'off' }) }),
  "the operator's webhook is late": async (scene) => {
    const { cli: first } = at(scene);
    const cli = changed(first, OF_OPERATOR);
    const client = await mongoose.mongo.MongoClient.connect(scene.main.uri);
    const time = new mongoose.mongo.Timestamp({ t: Math.floor(Date.now() / 1000) - 1200, i: 1 });
    const row = { position: cursorOfLog({ token: { _data: '8200' }, at: time }), parked: 2 };
    const rows = client.db(first.controlDatabase).collection<{ _id: string }>('operator_webhook');
    await rows.updateOne({ _id: 'operator' }, { $set: row }, { upsert: true });
    await client.close();
    // doctor runs some seconds later
    return { cli, names: [[/12\d\d s behind/g, '1200 s behind']] };
  },
};
