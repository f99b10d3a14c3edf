import type { ClientSession, Connection, Model } from 'mongoose';
import type { Collection, Index } from '../mongo/collection';
import type { Databases } from '../tenant/databases';
import { createAuditRecorder, type RecordEvent } from './auditRecorder';
import { clientSchema } from './appRows';
import { auditSchema } from './auditRows';
import { creationSchema } from './creations';
import { jobSchema } from './jobRows';
import { keySchema } from './keyRows';
import { organisationSchema } from './organisationRows';
import { requestSchema } from './requestRows';
import type { RowOf } from './schemas';
import { linkSchema, memberSchema, sessionSchema } from './sessionRows';
import { usageSchema } from './usageRows';
import { endpointSchema } from './webhookRows';

const SCHEMAS = {
  organisations: organisationSchema,
  apiKeys: keySchema,
  auditEvents: auditSchema,
  sessions: sessionSchema,
  links: linkSchema,
  usage: usageSchema,
  webhookEndpoints: endpointSchema,
  creations: creationSchema,
  requests: requestSchema,
  jobs: jobSchema,
  members: memberSchema,
  clients: clientSchema,
} as const;

/** Indexes that only versions before CONTROL_SCHEMA (controlSchema.ts) need, by collection: `doctor --fix` drops them. */
const RETIRED: Readonly<Record<string, readonly string[]>> = {
  organisations: ['cluster_1_created_at_1__id_1', 'cluster_1_files_1', 'copies.cluster_1'],
};

/** The collections of the control database with indexes. Raise CONTROL_INDEXES (controlSchema.ts) when one is added. */
export const controlCollections = Object.values(SCHEMAS).map((schema): Collection => {
  const name = schema.get('collection') ?? '';
  const indexes = schema.indexes().map(([on, options]) => ({ on, options }) as Index);
  return { name, indexes, retired: RETIRED[name] ?? [] };
});

type Models = { readonly [Name in keyof typeof SCHEMAS]: Model<RowOf<(typeof SCHEMAS)[Name]>> };

export type ControlModels = ReturnType<typeof createControlModels>;

export function createControlModels({
  control,
  changeControl,
  now,
}: Pick<Databases, 'control' | 'changeControl' | 'now'>) {
  const models = modelsOn(control);
  const audit = createAuditRecorder(models.auditEvents, now);
  return {
    ...models,
    /** Stores an audit event without a transaction. */
    record: audit.outsideTransaction,
    /**
     * Runs a change and its audit events as one transaction, so that neither exists without the other. `work` may run again after a conflict.
     * @throws AppError rate_limited if the organisation has had too many such changes in a day
     */
    change<T>(work: (session: ClientSession, record: RecordEvent) => Promise<T>): Promise<T> {
      return changeControl((session) => work(session, (...event) => audit.inTransaction(session, ...event)));
    },
  };
}

function modelsOn(control: Connection): Models {
  const models = Object.entries(SCHEMAS).map(([name, schema]) => {
    const collection = schema.get('collection') ?? '';
    return [name, control.model(collection, schema, collection)];
  });
  return Object.fromEntries(models) as Models;
}
