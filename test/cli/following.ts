import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { databaseName } from '../../src/database/organisationData';
import { type EventRow, events } from '../../src/events/collection';
import { positionOf, timeDigits } from '../../src/events/position';
import { eventually } from '../http/eventually';
import { type Client, client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import type { TestGateway } from '../support/gateway';
import type { CommandLine, Environment } from './commandLine';

/* Commands that run until they are stopped, and events for them, written as a gateway's tail would. */

/** Time that a slow machine needs, in milliseconds. */
const PATIENCE = 40_000;

export interface Followed {
  /** The lines of stdout so far. */
  readonly lines: () => string[];
  readonly stderr: () => string;
  /** Waits until stdout has this many lines, and returns them. */
  until(count: number, patience?: number): Promise<string[]>;
  /** Waits until stderr matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it, with a signal if one is given, and returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Pauses or resumes reading its stdout. */
  readonly hold: (isHeld: boolean) => void;
}

const running = new Set<Followed>();

/** Ends what a failed test left running. */
export async function endAll(): Promise<void> {
  for (const command of running) await command.end('SIGKILL');
}

export function followed(cli: CommandLine, args: string[], more: Environment = {}): Followed {
  const child = cli.start(args, more);
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  let isClosed = false;
  void closed.then(() => (isClosed = true));
  const lines = (): string[] => stdout.split('\n').slice(0, -1);
  const waiting = async <T>(look: () => T, patience = PATIENCE): Promise<NonNullable<T>> => {
    try {
      return await eventually(() => {
        if (isClosed && !look()) throw new Error('it has ended');
        return look();
      }, patience);
    } catch (error) {
      throw new Error(`${String(error)}\nstdout: ${stdout}\nstderr: ${stderr}`, { cause: error });
    }
  };
  const command: Followed = {
    lines,
    stderr: () => stderr,
    until: (count, patience) => waiting(() => (lines().length >= count ? lines() : undefined), patience),
    says: (pattern) => waiting(() => pattern.exec(stderr)),
    async end(signal) {
      if (signal) child.kill(signal);
      const code = await closed;
      running.delete(command);
      return code;
    },
    hold: (isHeld) => child.stdout![isHeld ? 'pause' : 'resume'](),
  };
  running.add(command);
  return command;
}

export interface EventScene {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly caller: Client;
  readonly rows: mongo.Collection<EventRow>;
}

const SECOND = Math.floor(Date.now() / 1000) - 10_000;

/** The nth event of an organisation, a second after the one before. */
export function eventRow(n: number, type = 'product.updated', id: string = randomUUID()): EventRow {
  const at = new Date((SECOND + n) * 1000);
  const object = { type: type.split('.')[0]!, id };
  const _id = positionOf(0, timeDigits({ t: SECOND + n, i: 1 }), 0);
  return { _id, type, at, object, changes: ['name'], status: null };
}

/** The time of the nth event. */
export const timeOfEvent = (n: number): string => eventRow(n).at.toISOString();

/** An organisation of a gateway, with a key, and its stored events. */
export async function eventScene(gateway: TestGateway, input: Parameters<typeof makeKey>[2] = {}): Promise<EventScene> {
  const organisation = await makeOrganisation(gateway);
  const { key, id: keyId } = await makeKey(gateway, organisation, input);
  await gateway.databases.organisationData(organisation).prepare([events]);
  const rows = bare!.db(databaseName(organisation.id)).collection<EventRow>(events.name);
  return { id: organisation.id, key, keyId, caller: client(gateway, key), rows };
}

let bare: mongo.MongoClient | undefined;
beforeAll(async () => {
  bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!);
});
afterEach(endAll);
afterAll(() => bare?.close());
