import { shorten } from '../errors';
import { RefusedAddress } from './addresses';

/* What a failed request says to the people who look after the endpoint: a sentence, never the text of a library. */

/** A system error, or the errors of several addresses that were tried. */
export interface SystemError {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly unknown[];
}

/** Messages by system error code. */
const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the connection was not made in time',
  HPE_HEADER_OVERFLOW: 'the head of the answer is too large',
};

/** Messages by what the code or the text of OpenSSL's error contains, the first that applies; OpenSSL 3.0 and 3.5 word them differently. */
const TLS_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/depth zero self signed/, 'the certificate is self-signed'],
  [/self signed cert in chain|cert untrusted/, 'the certificate is from an authority that is not publicly trusted'],
  [
    /unable to (verify leaf|get issuer)/,
    'the certificate is from an authority that is not publicly trusted, or the server does not send the intermediate certificates',
  ],
  [/cert has expired/, 'the certificate has expired'],
  [/cert not yet valid/, 'the certificate is not valid yet'],
  [/altname invalid|hostname mismatch/, 'the certificate is for another host name'],
  // alerts of the receiver, Go's "bad certificate" among them
  [/alert (\w+ )?cert/, 'the server asks for a client certificate, which is never sent'],
  [/unrecognized name/, 'the server does not know this host name'],
  [/wrong version number|packet length|http request/, 'what answers at this port does not speak TLS'],
  [/protocol version|unsupported protocol/, 'the server speaks no version of TLS from 1.2 on'],
  [/handshake failure|insufficient security/, 'the server accepts none of the ciphers that are offered'],
  [/cert|self signed/, 'the certificate is not valid'],
];

/** The error itself, or the first one if several addresses were tried. */
export function causeOf(error: unknown): SystemError {
  const { errors: [first] = [] } = error as SystemError;
  return first === undefined ? (error as SystemError) : causeOf(first);
}

/** Why an attempt failed, as a clause. */
export function failureText(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof RefusedAddress) return `the URL ${cause.message}`;
  const { code, message = '' } = cause;
  // errors of post.ts have no code, and a text for people
  if (code === undefined) return shorten(message, 200);
  if (code in EXPLAINED) return EXPLAINED[code] ?? '';
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  if (!/CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME|TLS|SSL|EPROTO/.test(code)) return `the request failed (${code})`;
  const text = `${code} ${message}`.toLowerCase().replaceAll('_', ' ');
  const [, why] = TLS_FAULTS.find(([pattern]) => pattern.test(text)) ?? [];
  return `TLS failed: ${why ?? 'the server ended the handshake'}`;
}
