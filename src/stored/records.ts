import type { ClientSession } from 'mongoose';
import type { OrganisationData } from '../database/organisationData';
import type { Fault } from '../errors';
import type { FindBroken } from './brokenNumbers';

/** What the SDL cannot say of a resource's records. */
export interface RecordRules {
  /** Rules across members, for records whose members are valid. */
  readonly rules?: (record: ImportRecord) => Fault[];
  /** Members written with a decimal point even if they are whole, at any depth. */
  readonly decimals?: readonly string[] | undefined;
}

/**
 * How a resource is imported and exported: a file of NDJSON records in the shape of contract, section 3. `import` validates
 * each record by `type` and `rules`, then stores those that are new or changed.
 */
export interface RecordKind extends Required<Pick<RecordRules, 'rules'>>, Pick<RecordRules, 'decimals'> {
  /** Name of the file without .ndjson. */
  readonly file: string;
  /** The SDL type whose shape a record has. */
  readonly type: string;
  /** Members of the type that a record omits. */
  readonly omit?: readonly string[];
  /** Additional list members of a record, with the SDL type of their items. */
  readonly lists?: Readonly<Record<string, { readonly type: string; readonly omit: readonly string[] }>>;
  /** The collections that `store` writes. */
  readonly writes: OrganisationData['collections'];
  /** Stores records that are new or changed. @throws a duplicate key error if the transaction should be retried. */
  readonly store: (
    data: OrganisationData,
    records: readonly ImportRecord[],
    session: ClientSession,
  ) => Promise<StoredRecord[]>;
  /** How many records an export has. */
  readonly count: (data: OrganisationData) => Promise<number>;
  /** All records, in file order. */
  readonly read: (data: OrganisationData) => AsyncIterable<ImportRecord>;
  /** Finds a number of a record that no file can hold. */
  readonly brokenNumber: FindBroken | undefined;
}

/** A record in a file: JSON, with ids as `id` and times as strings. */
export type ImportRecord = Record<string, unknown> & { readonly id: string };

export interface StoredRecord {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  readonly errors: readonly Fault[];
}
