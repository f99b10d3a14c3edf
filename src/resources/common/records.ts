import type { ClientSession } from 'mongoose';
import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';

/**
 * How a resource is imported and exported: a file of NDJSON records in the shape of contract, section 3. `import` checks
 * each record against `type` and `rules`, then stores what differs.
 */
export interface RecordKind {
  /** Name of the file without .ndjson. */
  readonly file: string;
  /** The SDL type whose shape a record has. */
  readonly type: string;
  /** Members of the type that a record leaves out. */
  readonly omit?: readonly string[];
  /** Members that a record has besides: name and SDL type of the items of a list. */
  readonly lists?: Readonly<Record<string, { readonly type: string; readonly omit: readonly string[] }>>;
  /** Members written with a decimal point even where they are whole, at any depth. */
  readonly decimals?: readonly string[];
  /** Rules across members, for a record whose members are sound. */
  readonly rules: (record: ImportRecord) => Fault[];
  /** Stores records that differ from what is there. @throws a duplicate key error when the transaction should start again. */
  readonly store: (
    data: OrganisationData,
    records: readonly ImportRecord[],
    session: ClientSession,
  ) => Promise<StoredRecord[]>;
  /** How many records an export has. */
  readonly count: (data: OrganisationData) => Promise<number>;
  /** All records in the order of the file. */
  readonly read: (data: OrganisationData) => AsyncIterable<ImportRecord>;
}

/** A record as it stands in a file: JSON, ids as `id`, times as text. */
export type ImportRecord = Record<string, unknown> & { readonly id: string };

export interface StoredRecord {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  readonly errors: readonly Fault[];
}
