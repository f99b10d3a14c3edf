import { ANSWER_BOUND, startLoad } from '../load';
import { type Case, number, settle } from '../outcome';
import { milliseconds, sleep } from '../timing';

/** Maximum time from the database's restart to an acknowledged write, in milliseconds. */
const RECOVERY_BOUND = 10_000;

/** kill -9 of the database during writes, then a restart on the same data. */
export const killDatabase: Case = {
  name: 'kill-database',
  title: 'kill -9 the database during writes',
  what: ({ databaseKills }) =>
    `${number(databaseKills)} times, the database gets SIGKILL at a random moment under the same load and is restarted on the same data 0 to 1 s later. Promise: as for the gateway; failures are 503, never 500; and writes resume within ${milliseconds(RECOVERY_BOUND)} of the restart. Recovery is from the start of the new server process to the first acknowledged write.`,
  async run({ rig, scale, random, tell }) {
    const gateways = await rig.gateways();
    const tenant = await rig.newTenant('killed database');
    const callers = gateways.map(({ call }) => call);
    const load = startLoad({
      callers,
      key: tenant.key,
      random,
      answerBound: ANSWER_BOUND * scale.slack,
    });
    const recoveries: number[] = [];
    const late: string[] = [];
    let slowestReturn = 0;
    for (let kill = 1; kill <= scale.databaseKills; kill += 1) {
      await sleep(300 + random() * 1200);
      await rig.database.kill();
      await sleep(random() * 1000);
      const started = performance.now();
      await rig.database.restart();
      const back = performance.now() - started;
      slowestReturn = Math.max(slowestReturn, back);
      const wait = await load.nextAcknowledgement(60_000);
      if (wait === undefined || wait > RECOVERY_BOUND * scale.slack)
        late.push(`after kill ${String(kill)}: ${String(wait)} ms`);
      if (wait !== undefined) recoveries.push(back + wait);
      if (kill % 5 === 0) tell(`${String(kill)} of ${String(scale.databaseKills)} kills`);
    }
    await load.stop();
    const counts = await settle(load, callers, rig, tenant);
    const internal = load.tally.count('500 internal');
    return {
      ...counts,
      recoveries,
      notes: [...counts.notes, `The database server took at most ${milliseconds(slowestReturn)} to restart.`],
      broken: [
        ...counts.broken,
        ...late.map((text) => `writes resumed too late ${text}`),
        ...(internal === 0
          ? []
          : [
              `${number(internal)} answers were 500 internal instead of 503 unavailable: ${String(await rig.internalErrors())}`,
            ]),
      ],
    };
  },
};
