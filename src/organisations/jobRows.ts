import type { Actor } from './auditEvents';

export interface JobRow {
  /** UUID. */
  readonly _id: string;
  readonly kind: 'erasure' | 'move';
  readonly organisation_id: string;
  /** The shard to move to; null for an erasure. */
  readonly to: string | null;
  readonly actor: Actor;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly step: string | null;
  readonly error: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  /** Lease id of the gateway that works on it, and when that lease ends. */
  readonly holder: string | null;
  readonly until: Date;
  /** When the row is deleted. */
  readonly ends_at?: Date;
}
