import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../../src/auth/principal';
import type { Scope } from '../../../../src/auth/scopes';
import type { EventRow } from '../../../../src/events/collection';
import { positionOf, timeDigits } from '../../../../src/events/position';
import { databaseName } from '../../../../src/mongo/databaseNames';
import type { ImportRecord } from '../../../../src/stored/records';
import { read } from '../../../docs/markdown';
import { type Client, client } from '../../../support/client';
import { makeKey, makeStored } from '../../../support/factories';
import { driver, served } from '../../../support/gateway';
import { type Installed, working } from './programs';

/** In milliseconds. */
export const PATIENCE = 120_000;

interface Scene {
  readonly organisation: Organisation;
  readonly key: string;
  readonly caller: Client;
  readonly rows: (collection: string) => ReturnType<ReturnType<ReturnType<typeof driver>['db']>['collection']>;
}

export type Jobs = ReturnType<typeof jobScene>;

/** The programs in a language, and organisations for them. */
export function jobScene(install: () => Promise<Installed>) {
  const CONTROL_DATABASE = `scopegate_jobs_${randomUUID().slice(0, 8)}`;
  const gateway = served({ CONTROL_DATABASE, EVENTS: 'on' });
  afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
  // as the product that owns quotes and orders
  const bare = driver();

  /** An event that is before or after all others of the organisation. */
  async function addEvent({ rows }: Scene, type: string, at: Date, gap: EventRow['gap']): Promise<void> {
    const _id = positionOf(0, timeDigits({ t: Math.floor(at.getTime() / 1000), i: 1 }), 0) as never;
    await rows('events').insertOne({ _id, type, at, object: null, changes: [], status: null, ...(gap && { gap }) });
  }

  return {
    ...working(install, gateway),
    gateway,
    addEvent,
    /** An organisation with these records, a key with the scopes that a job's page names, and a caller who may everything. */
    async scene(job: string, records: Record<string, readonly ImportRecord[]>): Promise<Scene> {
      // those after a semicolon are for more than the program
      const [, named = ''] = /^- Scopes: ([^;\n]+)/m.exec(read(`docs/guides/jobs/${job}.md`)) ?? [];
      const scopes = [...named.matchAll(/`(\w+:\w+)`/g)].map(([, scope]) => scope as Scope);
      const organisation = await makeStored(gateway, records);
      const [{ key }, all] = await Promise.all([
        makeKey(gateway, organisation, { scopes }),
        makeKey(gateway, organisation),
      ]);
      const db = bare.db(databaseName(organisation.id));
      return { organisation, key, caller: client(gateway, all.key), rows: (name) => db.collection(name) };
    },
    /** The cursor of one whose program did not run for over a month. */
    async expiredCursor(of: Scene): Promise<string> {
      await addEvent(of, 'feed.gap', new Date(Date.now() - 31 * 86_400_000), undefined);
      const { body } = await of.caller.get('/events', { limit: 1 });
      return body.next_cursor as string;
    },
  };
}

export const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
