import type { SyncOptions } from './options.js';
import { Sync } from './sync.js';

/** Keeps the gateway's copy of your collections current. Nothing happens before `run`, `backfill`, `reconcile` or `follow`. */
export const sync = (options: SyncOptions): Sync => new Sync(options);

export type { FollowOptions, SyncEvent } from './follow.js';
export { GatewayError } from './gateway.js';
export type { Fault, Mapped, Source } from './source.js';
export type { Report } from './outbox.js';
export type { SyncOptions } from './options.js';
export type { Sync } from './sync.js';
