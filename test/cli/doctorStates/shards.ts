import { startMongos, UNAUTHORISED } from '../../support/mongos';
import {
  acme,
  at,
  changed,
  type Made,
  organisationNames,
  type Scene,
  shownAs,
  type States,
} from '../../support/fixtures/doctorStates';

/* What doctor says about the shards of a sharded cluster, by a stand-in for mongos. */

async function behindMongos({ main }: Scene) {
  const mongos = await startMongos(['shard01', 'shard02'], main.uri);
  const made: Made = { ...at({ main } as Scene, mongos.uri), names: [shownAs(mongos.uri)], end: () => mongos.close() };
  return { mongos, made };
}

export const SHARDS: States = {
  'a shard does not respond': async (scene) => {
    const { mongos, made } = await behindMongos(scene);
    await acme(made.cli, { isStocked: false });
    mongos.down.add('shard02');
    return made;
  },
  'the user may not list the shards': async (scene) => {
    const { mongos, made } = await behindMongos(scene);
    mongos.replies.listShards = () => UNAUTHORISED;
    return made;
  },
  'a shard with more files than it may have': async (scene) => {
    const { made } = await behindMongos(scene);
    const id = await acme(made.cli);

    return {
      ...made,
      cli: changed(made.cli, { SHARD_FILES: '4' }),
      names: [...made.names!, ...organisationNames(id)],
    };
  },
};
