import mongoose, { type mongo } from 'mongoose';
import { join } from 'node:path';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { commandLine, NORTHWIND, serve, type Served } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { type OwnDatabase, startDatabase } from '../operation/database';
import type { Json } from '../support/client';
import { operator, TOKENS } from './operator';

/* Gateways of two clusters in processes of their own, which are killed while they do what an operator asked for. */

const EVENTS_OFF = { EVENTS: 'off' };

export type Killing = Awaited<ReturnType<typeof makeScene>>;

/** Starts the second cluster for the tests of a file; gateways are stopped after each test. */
export function killingScene(): () => Killing {
  let scene: Killing | undefined;
  beforeAll(async () => {
    scene = await makeScene();
  });
  afterEach(() => scene?.stopGateways());
  afterAll(() => scene?.close());
  return () => scene!;
}

async function makeScene() {
  const eu: OwnDatabase = await startDatabase();
  const [direct, there] = await Promise.all(
    [process.env.TEST_MONGODB_URI!, eu.uri].map((uri) => mongoose.createConnection(uri).asPromise()),
  );
  const cli = commandLine({ ...TOKENS, ...EVENTS_OFF, MONGODB_CLUSTERS: `eu=${eu.uri}`, LOG_LEVEL: 'warn' });
  const serving: Served[] = [];

  async function start(more: Record<string, string> = {}): Promise<Served> {
    const one = await serve(cli, [], { RATE_LIMIT_PER_MINUTE: '1000000', ...more });
    serving.push(one);
    return one;
  }

  /** Rows of the control database. */
  const rows = (name: string): mongo.Collection<Json> =>
    direct!.getClient().db(cli.controlDatabase).collection<Json>(name);

  return {
    ...{ cli, start },
    here: direct!.getClient(),
    there: there!.getClient(),
    /** A gateway that is killed when the database has answered a command of which `isLast` is true. */
    async startKilled(isLast: (command: Record<string, unknown>) => boolean) {
      const killed = { isDone: false };
      const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
        onReply: (reply, command) => {
          if (killed.isDone || !command || !isLast(command)) return killed.isDone ? undefined : reply;
          killed.isDone = true;
          one.child.kill('SIGKILL');
          return undefined;
        },
      });
      const one = await start({ MONGODB_URI: proxy.uri });
      return { one, killed, close: () => proxy.close() };
    },
    rows,
    async makeLoaded(name: string): Promise<string> {
      const { id } = await cli.json<{ id: string }>('org', 'create', '--name', name, '--cluster', 'default');
      await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
      return id;
    },
    ended: ({ url }: Pick<Served, 'url'>, id: string): Promise<Json> =>
      eventually(async () => {
        const { body } = await operator({ url }).get(`/jobs/${id}`);
        return body.ended_at === null ? undefined : body;
      }, 60_000),
    /** Two callers make the same organisations on two gateways, of which one after so many answers is killed and replaced. */
    async signUp(refs: readonly string[], killedAfter: number): Promise<void> {
      const gateways = [await start(), await start()];
      let answered = 0;
      const call = async (which: number): Promise<void> => {
        for (const [at, external_ref] of refs.entries()) {
          const body = { name: `Signed up ${String(at)}`, external_ref };
          let attempt = which + at;
          const make = () =>
            operator(gateways[attempt++ % 2]!)
              .post('/organisations', body)
              .catch(() => undefined);
          await eventually(async () => ((await make())?.status ?? 500) < 300, 60_000);
          answered += 1;
          if (answered % killedAfter !== 0) continue;
          const victim = (answered / killedAfter) % 2;
          gateways[victim]!.child.kill('SIGKILL');
          gateways[victim] = await start();
        }
      };
      await Promise.all([call(0), call(1)]);
    },
    /** Each is there once, with its audit event, which is written with it. */
    async expectSignedUp(refs: readonly string[]): Promise<void> {
      const found = await rows('organisations')
        .find({ external_ref: { $in: refs } })
        .toArray();
      expect(found.map(({ external_ref }) => external_ref as string).sort()).toEqual(refs.toSorted());
      const ids = found.map(({ _id }) => _id as string);
      const created = { organisation_id: { $in: ids }, action: 'organisation.created' };
      const events = await rows('audit_events').find(created).toArray();
      expect(events.map(({ organisation_id }) => organisation_id as string).sort()).toEqual(ids.sort());
    },
    async stopGateways(): Promise<void> {
      await Promise.all(serving.splice(0).map((one) => one.stop()));
    },
    async close(): Promise<void> {
      await Promise.all([direct!.close(), there!.close()]);
      await eu.stop();
    },
  };
}
