import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/database/organisationData';
import { type EventRow, events } from '../../src/events/collection';
import { positionOf, timeDigits } from '../../src/events/position';
import type { DeliveryRow } from '../../src/webhooks/deliveries';
import type { EndpointRow } from '../../src/organisations/webhookRows';
import { eventually } from '../http/eventually';
import type { Json } from '../support/client';
import { makeOrganisation } from '../support/factories';
import { late, startGateway, type TestGateway } from '../support/gateway';
import { recordCommands } from '../support/recordedCommands';
import { ENVIRONMENT, type Office, officeOf } from './office';
import { type Receiver, startReceiver } from '../support/receiver';

/* An organisation whose quotes change, and an endpoint subscribed to them. */

interface Row {
  readonly _id: string;
  readonly number: string;
  readonly status: string;
  readonly total_minor: number;
  readonly updated_at: Date;
}

export interface World extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly environment: Record<string, string>;
  readonly bare: mongo.MongoClient;
  /** Endpoints, through the driver alone. */
  readonly endpoints: mongo.Collection<EndpointRow>;
  stop(): Promise<void>;
}

/** A gateway that records and delivers events, with its own control data. */
export async function openWorld(more: Record<string, string> = {}): Promise<World> {
  const CONTROL_DATABASE = `scopegate_hooks_${randomUUID().slice(0, 8)}`;
  const environment = { ...ENVIRONMENT, CONTROL_DATABASE, EVENTS: 'on', ...more };
  const gateway = await startGateway(environment);
  const bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!, {
    writeConcern: { w: 'majority' },
  });
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await bare.db(CONTROL_DATABASE).dropDatabase();
    await bare.close();
  };
  const endpoints = bare.db(CONTROL_DATABASE).collection<EndpointRow>('webhook_endpoints');
  return { gateway, environment, bare, endpoints, stop, [Symbol.asyncDispose]: stop };
}

/** Stores events as the tail does, of one object or many, without waking endpoints. */
export async function storeEvents(of: World, organisation: Organisation, count: number, object?: string) {
  await of.gateway.databases.organisationData(organisation).prepare([events]);
  const time = timeDigits({ t: Math.floor(Date.now() / 1000) - 60, i: 1 });
  const rows = Array.from({ length: count }, (_none, at): EventRow => ({
    ...{ _id: positionOf(0, time, at), type: 'quote.updated', at: new Date(), changes: [], status: null },
    object: { type: 'quote', id: object ?? randomUUID() },
  }));
  await of.bare.db(databaseName(organisation.id)).collection<EventRow>(events.name).insertMany(rows);
}

/** Runs work in its own world, with the commands that the gateway sends to the database. */
export async function withRecordedWorld(work: (own: World, sent: Json[]) => Promise<void>): Promise<void> {
  const { proxy, sent } = await recordCommands();
  const own = await openWorld({ MONGODB_URI: proxy.uri });
  try {
    await work(own, sent);
  } finally {
    await own.stop();
    await proxy.close();
  }
}

export interface Scene extends Office {
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
  readonly deliveries: mongo.Collection<DeliveryRow>;
  /** Writes quotes as the application that owns them, and resolves with their ids. */
  write(quotes: number): Promise<string[]>;
  /** Changes a quote. */
  change(quote: string, times?: number): Promise<void>;
  endpoint(): Promise<Json>;
  row(): Promise<EndpointRow>;
  rows(state?: string): Promise<DeliveryRow[]>;
  /** Makes everything that waits due now. */
  hurry(): Promise<void>;
  /** Marks the organisation as moving to another shard, or no longer. */
  moving(is: boolean): Promise<void>;
}

interface SceneInput {
  readonly types?: string[];
  readonly receiver?: Receiver;
  readonly organisation?: Organisation;
}

export async function newScene(world: World, input: SceneInput = {}): Promise<Scene> {
  const organisation = input.organisation ?? (await makeOrganisation(world.gateway));
  const office = await officeOf(world.gateway, organisation);
  const receiver = input.receiver ?? (await startReceiver());
  const made = await office.admin('create_webhook', { url: receiver.url, types: input.types ?? [] });
  const id = made.endpoint.id as string;
  const db = world.bare.db(databaseName(organisation.id));
  const quotes = db.collection<Row>('quotes');
  const deliveries = db.collection<DeliveryRow>('webhook_deliveries');
  return {
    ...office,
    receiver,
    id,
    secret: made.secret as string,
    deliveries,
    async write(count) {
      const rows = Array.from({ length: count }, () => {
        return { _id: randomUUID(), number: randomUUID(), status: 'draft', total_minor: 1, updated_at: new Date() };
      });
      await quotes.insertMany(rows);
      return rows.map(({ _id }) => _id);
    },
    async change(quote, times = 1) {
      for (let time = 0; time < times; time += 1) await quotes.updateOne({ _id: quote }, { $inc: { total_minor: 1 } });
    },
    endpoint: async () => (await office.admin('webhooks')).data.find((one: Json) => one.id === id),
    row: async () => (await world.endpoints.findOne({ _id: id }))!,
    rows: (state) =>
      deliveries
        .find({ endpoint_id: id, ...(state !== undefined && { state: state as never }) }, { sort: { _id: 1 } })
        .toArray(),
    async moving(is) {
      const at = new Date();
      const move = { to: 'elsewhere', mover: 'test', begun_at: at, seen_at: at };
      await world.bare
        .db(world.environment.CONTROL_DATABASE)
        .collection<{ _id: string }>('organisations')
        .updateOne({ _id: organisation.id }, is ? { $set: { move } } : { $unset: { move: 1 } });
    },
    async hurry() {
      const past = new Date(0);
      await deliveries.updateMany({ endpoint_id: id, state: 'waiting' }, { $set: { next_at: past } });
      await eventually(async () => {
        const { matchedCount } = await world.endpoints.updateOne(
          { _id: id, holder: null },
          { $set: { due: past, until: past } },
        );
        return matchedCount === 1;
      });
    },
  };
}

/** A world for the tests of a file, and scenes in it that end after each test. */
export function useWorld(): {
  readonly world: World;
  readonly scene: (input?: SceneInput, of?: World) => Promise<Scene>;
} {
  const world = late(openWorld);
  const scenes: Scene[] = [];
  afterAll(() => world.stop());
  afterEach(async () => {
    for (const { receiver, gateway, id } of scenes.splice(0)) {
      await receiver.stop();
      // otherwise it would take places from the next test
      if (gateway === world.gateway)
        await gateway.control.webhooks.remove(id, { actor: { who: 'cli:test', from: 'here' } });
    }
  });
  return {
    world,
    async scene(input, of = world) {
      const made = await newScene(of, input);
      scenes.push(made);
      return made;
    },
  };
}

export const idsOf = ({ receiver }: Pick<Scene, 'receiver'>): string[] => receiver.arrived.map(({ id }) => id);
export const objectsOf = ({ receiver }: Pick<Scene, 'receiver'>): string[] =>
  receiver.arrived.map(({ event }) => event.object.id as string);

/** Waits until this many deliveries have arrived. */
export const untilArrived = ({ receiver }: Pick<Scene, 'receiver'>, count: number): Promise<boolean> =>
  eventually(() => receiver.arrived.length >= count, 30_000);

/** Waits until exactly this many events are delivered. */
export const untilDelivered = (one: Pick<Scene, 'rows'>, count: number): Promise<boolean> =>
  eventually(async () => (await one.rows('delivered')).length === count, 30_000);

/** Waits until no gateway works on the endpoint. */
export const untilReleased = (one: Pick<Scene, 'row'>): Promise<boolean> =>
  eventually(async () => (await one.row()).holder === null, 30_000);
