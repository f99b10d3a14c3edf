import type { Db } from 'mongodb';
import type { GatewayOptions, OnRetry } from './gateway.js';
import type { Fault, Source } from './source.js';

export interface SyncOptions {
  /** Your database, such as `mongoose.connection.db`. */
  readonly database: Db;
  readonly gateway: GatewayOptions;
  /** First those that others refer to: customers before quotes. */
  readonly sources: readonly Source[];
  /** Called for each document that could not be stored, or not be mapped. */
  readonly onFault: (fault: Fault) => void;
  /** Called before each wait: for the gateway, for one organisation that cannot be written now, your database, or a handler of events. */
  readonly onRetry?: OnRetry;
  /** Begins the names of our own collections in your database. Each gateway needs one of its own. Default `scopegate_sync`. */
  readonly name?: string;
}

/** The known options; those of the type, so that none is forgotten. */
const OPTIONS: Record<keyof SyncOptions, true> = {
  database: true,
  gateway: true,
  sources: true,
  onFault: true,
  onRetry: true,
  name: true,
};
const OF_GATEWAY: Record<keyof GatewayOptions, true> = { url: true, token: true };

/** Checks what would otherwise be retried for ever, or never be called. @throws TypeError that names the option */
export function checkOptions(options: SyncOptions): void {
  refuseUnknown(options, Object.keys(OPTIONS), '');
  const gateway: Partial<GatewayOptions> = (options as Partial<SyncOptions>).gateway ?? {};
  refuseUnknown(gateway, Object.keys(OF_GATEWAY), 'gateway.');
  const { url, token } = gateway;
  if (!isText(url))
    throw new TypeError('`gateway.url` is missing: the URL of the operator API, such as http://gateway:4000.');
  // no user: fetch refuses it, and errors contain the URL
  if (!/^https?:\/\/[^\s@?#\\]+$/i.test(url.trim()) || !URL.canParse(url.trim()))
    throw new TypeError(
      '`gateway.url` must look like http://gateway:4000: with http:// or https://, without user or query.',
    );
  if (!isText(token)) throw new TypeError("`gateway.token` is missing: the secret of an operator's token.");
  if (!/^[\x21-\x7e]+$/.test(token.trim()))
    throw new TypeError('`gateway.token` has characters that a token cannot have.');
  if (typeof options.onFault !== 'function') throw new TypeError('`onFault` must be a function.');
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

function refuseUnknown(given: object, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const names = known.map((name) => `\`${prefix}${name}\``).join(', ');
  throw new TypeError(`There is no option \`${prefix}${unknown}\`; there are ${names}.`);
}
