import mongoose from 'mongoose';
import { type Config, ConfigError } from '../config';

/* Addresses of databases as the driver reads them, before anything connects: it says little of what is wrong, and may repeat a password. */

const ENCODE =
  'user name and password must be percent-encoded (@ is %40, : is %3A, / is %2F, ? is %3F, # is %23, % is %25)';

/** @throws ConfigError naming each variable whose address the driver cannot read, and no part of a password. */
export function checkAddresses({
  MONGODB_URI,
  MONGODB_CLUSTERS,
}: Pick<Config, 'MONGODB_URI' | 'MONGODB_CLUSTERS'>): void {
  const addresses = [
    ...(MONGODB_URI === undefined ? [] : [['MONGODB_URI', MONGODB_URI] as const]),
    ...Object.entries(MONGODB_CLUSTERS).map(([name, uri]) => [`MONGODB_CLUSTERS: ${name}`, uri] as const),
  ];
  const faults = addresses.flatMap(([name, uri]) => {
    const fault = addressFault(uri);
    return fault === undefined ? [] : [`  ${name}: ${fault}`];
  });
  if (faults.length > 0) throw new ConfigError(`the environment is not fit:\n${faults.join('\n')}`);
}

/** What is wrong with a connection string, in words; undefined when the driver can read it. */
export function addressFault(uri: string): string | undefined {
  try {
    // reads the text and looks nothing up; whatever it holds is let go with it
    new mongoose.mongo.MongoClient(uri);
    return undefined;
  } catch (error) {
    return inWords(error instanceof Error ? error.message : '');
  }
}

function inWords(message: string): string {
  if (/^Invalid connection string|unescaped|URI malformed/.test(message)) return `it cannot be read; ${ENCODE}`;
  // the driver repeats what it takes for a host, which is the password where the @ behind it is missing
  if (/^Unable to parse|Invalid (host|port)/i.test(message))
    return 'each host must be host or host:port, with a port from 1 to 65535, and stand behind user:password@ where there is one';
  if (message.startsWith('Protocol and host list'))
    return 'it names no host; it must be mongodb://host[:port][,…][/?options]';
  // of the others those are repeated that name an option, which holds no secret
  return /^(URI option|option|mongodb\+srv|directConnection|tls|loadBalanced)\b[^:]*$/i.test(message)
    ? message
    : 'the driver cannot read it: look at its options';
}
