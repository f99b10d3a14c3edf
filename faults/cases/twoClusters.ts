import { join } from 'node:path';
import { openStore, type Store } from '../../src/cli/common/open';
import { readConfig } from '../../src/config';
import { ROOT } from '../../tools/facts';
import { askElsewhere, type Beside, describe, keepServed } from '../beside';
import { isCleanRefusal, isSuccess, labelOf, Tally } from '../client';
import { type FaultDatabase, startDatabase } from '../database';
import { type Gateway, untilServed } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { type Rig, temporaryFolder, type Tenant } from '../rig';
import { milliseconds, quantile, sleep } from '../timing';

/** Callers of the organisation whose cluster is away, over both gateways. */
const CALLERS = 300;
const PATHS = ['/api/v1/products?limit=5'];
/** Longest wait of the first of them for their 503, in milliseconds, and of the median one that asks later. */
const FIRST_BOUND = 2600;
const LATER_BOUND = 100;
/** How much slower the 99th percentile of the other cluster's reads may become. */
const SLOWER = 2;
const SLOWEST_BOUND = 5000;
const RECOVERY_BOUND = 10_000;

interface Clusters {
  readonly eu: FaultDatabase;
  readonly environment: Readonly<Record<string, string>>;
  readonly store: Store;
  readonly here: Tenant;
  readonly there: Tenant;
}

/** One of two clusters hangs, and is killed; the other's organisations are not affected. */
export const twoClusters: Case = {
  name: 'two-clusters',
  title: 'One of two clusters hangs, then dies',
  what: ({ heavySeconds }) =>
    `Two database servers, an organisation on each, two gateways. The second server is stopped with SIGSTOP for ${String(heavySeconds)} s while ${number(CALLERS)} callers of its organisation send requests, and again after 1 to 2 s as Retry-After says; then it is continued, killed with SIGKILL and restarted. Promise: its organisation gets only 503 with Retry-After, the first within ${milliseconds(FIRST_BOUND)}, later ones at once (median within ${milliseconds(LATER_BOUND)}); every read of the other organisation is answered 200, the 99th percentile at most ${String(SLOWER)} times as long as alone; \`/readyz\` stays 200 and names the cluster; a gateway that is started meanwhile serves; the command line lists, creates and revokes keys of both organisations; and requests succeed within ${milliseconds(RECOVERY_BOUND)} of the server's return, also on the gateway that has never seen it.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const clusters = await openClusters(rig);
    const promises = new Promises();
    try {
      const { eu, here } = clusters;
      const gateways = await rig.gateways(clusters.environment);
      const [gateway] = gateways;
      const time = scale.heavySeconds * 1000;
      const readHere = (ms: number): Promise<Beside> => askElsewhere(ms, gateway, PATHS, here.key);
      await readHere(time / 2);
      const before = await readHere(time);

      eu.freeze();
      tell('the second cluster hangs');
      const callers = startCallers(gateways, clusters.there);
      const during = await readHere(time);
      await keepReady(promises, gateway);
      const answers = await callers.stop();
      eu.thaw();
      const thawed = await recovery(gateways, clusters.there);
      const after = await readHere(time);

      await eu.kill();
      tell('the second cluster is killed');
      const killed = startCallers(gateways, clusters.there);
      const late = await rig.oneGateway('late', clusters.environment);
      const fromLate = await late.call({ method: 'GET', path: PATHS[0] ?? '', key: here.key });
      promises.keep(isSuccess(fromLate), `a gateway that started meanwhile answered ${labelOf(fromLate)}`);
      await keepAdministered(promises, rig, clusters);
      const deadAnswers = await killed.stop();
      await eu.restart();
      const restarted = await recovery([...gateways, late], clusters.there);
      await late.end('SIGTERM');

      keepServed(promises, "The other cluster's reads", during, SLOWEST_BOUND * scale.slack);
      for (const [what, { tally, first, later }] of [
        ['hung', answers],
        ['killed', deadAnswers],
      ] as const) {
        promises.keep(tally.count('503 unavailable') === first.length + later.length, `${what}: ${tally.toString()}`);
        const slowest = Math.max(0, ...first);
        promises.keep(slowest <= FIRST_BOUND * scale.slack, `${what}: the slowest 503 took ${milliseconds(slowest)}`);
        const usual = quantile(later, 0.5);
        promises.keep(usual <= LATER_BOUND * scale.slack, `${what}: a later 503 took ${milliseconds(usual)}`);
      }
      const alone = Math.max(quantile(before.latencies, 0.99), quantile(after.latencies, 0.99));
      const p99 = quantile(during.latencies, 0.99);
      promises.keep(
        p99 <= SLOWER * alone * scale.slack,
        `the other's reads took ${milliseconds(p99)} in the 99th percentile, ${milliseconds(alone)} alone`,
      );
      const recoveries = [...thawed, ...restarted].flatMap((ms) => ms ?? []);
      promises.keep(
        recoveries.length === 5 && Math.max(...recoveries) <= RECOVERY_BOUND * scale.slack,
        `recovery took ${[...thawed, ...restarted].map((ms) => (ms === undefined ? 'too long' : milliseconds(ms))).join(', ')}`,
      );
      const errors = await rig.internalErrors();
      promises.keep(errors.toString() === new Tally().toString(), `answered 500: ${errors.toString()}`);
      return {
        recoveries,
        notes: [
          `Its organisation while it hangs: ${answers.tally.toString()}; the slowest of the first took ${milliseconds(Math.max(0, ...answers.first))}, later ones ${milliseconds(quantile(answers.later, 0.5))} in the median.`,
          `While it is dead: ${deadAnswers.tally.toString()}; ${milliseconds(Math.max(0, ...deadAnswers.first))} and ${milliseconds(quantile(deadAnswers.later, 0.5))}.`,
          describe("The other's reads alone, before", before),
          describe("The other's reads meanwhile", during),
          describe("The other's reads alone, afterwards", after),
        ],
        broken: promises.broken,
      };
    } finally {
      await rig.endGateways();
      await clusters.store.close();
      await clusters.eu.stop();
    }
  },
};

async function openClusters(rig: Rig): Promise<Clusters> {
  const eu = await startDatabase(await temporaryFolder(), join(ROOT, '.cache'));
  const environment = { MONGODB_CLUSTERS: `eu=${eu.uri}` };
  const store = await openStore(readConfig({ ...rig.environment, ...environment }), () => undefined);
  const tenant = async (cluster: string): Promise<Tenant> => {
    const { id } = await store.control.organisations.create({
      name: cluster,
      plan: 'integrations',
      currency: 'USD',
      cluster,
    });
    return { organisationId: id, key: (await rig.newKey(id)).key };
  };
  return { eu, environment, store, here: await tenant('default'), there: await tenant('eu') };
}

interface Answers {
  readonly tally: Tally;
  /** Milliseconds of the first request of each caller, and of the others. */
  readonly first: readonly number[];
  readonly later: readonly number[];
}

function startCallers(gateways: readonly Gateway[], { key }: Tenant): { stop(): Promise<Answers> } {
  const [tally, first, later] = [new Tally(), [] as number[], [] as number[]];
  let isOver = false;
  const call = async (gateway: Gateway): Promise<void> => {
    for (let times = 0; !isOver; times += 1) {
      const reply = await gateway.call({ method: 'GET', path: PATHS[0] ?? '', key });
      tally.add(isCleanRefusal(reply) ? labelOf(reply) : `${labelOf(reply)} without Retry-After`);
      (times === 0 ? first : later).push(reply.ms);
      await sleep(1000 + 1000 * Math.random());
    }
  };
  const share = CALLERS / gateways.length;
  const asking = Promise.all(gateways.flatMap((gateway) => Array.from({ length: share }, () => call(gateway))));
  return {
    async stop() {
      isOver = true;
      await asking;
      return { tally, first, later };
    },
  };
}

async function keepReady(promises: Promises, gateway: Gateway): Promise<void> {
  const reply = await gateway.call({ method: 'GET', path: '/readyz' });
  const says = reply.kind === 'answer' ? reply.body : reply.reason;
  promises.keep(isSuccess(reply) && says.includes('"eu":"unavailable"'), `/readyz: ${labelOf(reply)} ${says}`);
}

/** The command line does what needs only the control database. */
async function keepAdministered(
  promises: Promises,
  rig: Rig,
  { environment, here, there, store }: Clusters,
): Promise<void> {
  const { id } = await rig.newKey(there.organisationId);
  for (const command of [
    ['org', 'list'],
    ['audit'],
    ['key', 'create', '--org', there.organisationId, '--name', 'meanwhile', '--scopes', 'all'],
    ['key', 'list', '--org', here.organisationId],
    ['key', 'revoke', id],
  ]) {
    const fault = await rig.scopegate(command, environment).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    promises.keep(fault === undefined, `scopegate ${command.join(' ')}: ${fault ?? ''}`);
  }
  const revoked = await store.control.apiKeys.list(there.organisationId);
  promises.keep(
    revoked.some(({ _id, revoked_at: at }) => _id === id && at !== null),
    'the revoked key is not revoked',
  );
}

/** Milliseconds until each gateway serves the organisation. */
function recovery(gateways: readonly Gateway[], { key }: Tenant): Promise<(number | undefined)[]> {
  return Promise.all(gateways.map((gateway) => untilServed(gateway, key)));
}
