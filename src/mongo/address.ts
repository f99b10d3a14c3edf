import mongoose from 'mongoose';
import { type Config, ConfigError, sourceOf } from '../config';

/* Checks the MongoDB URI before connecting, because the driver's own messages say little and may contain a password. Every command does so before it connects. */

const MALFORMED =
  'is malformed; user name and password must be percent-encoded (@ is %40, : is %3A, / is %2F, ? is %3F, # is %23, % is %25)';

/** @throws ConfigError if MONGODB_URI is invalid, without any part of a password. */
export function checkAddress({ MONGODB_URI }: Pick<Config, 'MONGODB_URI'>): void {
  const fault = MONGODB_URI === undefined ? undefined : addressFault(MONGODB_URI);
  if (fault !== undefined) throw new ConfigError([[sourceOf('MONGODB_URI'), fault]]);
}

/** So no read asks for the primary by itself: clients, their databases and collections have the option of the URI, and plain commands go there anyway. */
const NOT_PRIMARY =
  'option readPreference must be primary or left out: only the primary knows at once that a key was revoked';

/** What is wrong with a connection string, as a clause to follow the variable's name; undefined if it can be used. */
export function addressFault(uri: string): string | undefined {
  try {
    // only parses the text, without connecting
    const { readPreference } = new mongoose.mongo.MongoClient(uri).options;
    return readPreference.mode === 'primary' ? undefined : NOT_PRIMARY;
  } catch (error) {
    // an @ after a ? is most often the one before the host: the ? then belongs to the password, as does all that looks like options
    return /\?.*@/.test(uri) ? MALFORMED : explain(error instanceof Error ? error.message : '');
  }
}

function explain(message: string): string {
  if (/^Invalid connection string|unescaped|URI malformed/.test(message)) return MALFORMED;
  // the driver quotes the host, which is the password if the @ after it is missing
  if (/^Unable to parse|Invalid (host|port)/i.test(message))
    return 'each host must be host or host:port, with a port from 1 to 65535, after user:password@ if present';
  if (message.startsWith('Protocol and host list')) return 'has no host; expected mongodb://host[:port][,…][/?options]';
  return SAFE.test(message) ? message : 'is rejected by the driver; check its options';
}

/** The driver's messages that can be shown: they quote no value, and no name of an option that has more than letters, since a part of a password may be mistaken for one. */
const SAFE =
  /^(URI option "[a-z]+"|options? [a-z]+(, [a-z]+)* (is|are) not|mongodb\+srv|directConnection|tls|loadBalanced)[^:]*$/i;
