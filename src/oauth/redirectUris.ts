/* The addresses to which the browser brings an app its code: https, this machine over http (RFC 8252), or a scheme of the app's own. */

/** Maximum characters: more than apps use. Addresses are stored for whoever asks, so they need a limit. */
const LONGEST = 500;
/** What a URL can have as it is (RFC 3986), so that a Location header can too: ASCII without spaces, quotes and < > \ ^ ` { | }. */
const PLAIN = /^[!#-&(-;=?-[\]_a-z~]+$/;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
/** The rest of what a URL may have as a host would end up in the Content-Security-Policy of the consent page. */
const HOST = /^([a-z0-9.-]+|\[::1\])$/;
/**
 * A domain in reverse (RFC 8252, section 7.1). Schemes of browsers and systems have no dot, but for `microsoft.…` of Windows and `x-apple.…` of
 * macOS, which begins as no domain in reverse does: with a hyphen before the first dot.
 */
const OWN_SCHEME = /^(?!microsoft\.)[a-z0-9]+(\.[a-z0-9-]+)+:$/;
/** Schemes without a dot of well-known apps. */
const KNOWN_SCHEMES = ['claude:', 'cursor:', 'vscode:', 'vscode-insiders:'];

/** Why a text cannot be a redirect address, as a clause; undefined if it can. */
export function redirectFault(text: string): string | undefined {
  if (text.length > LONGEST || !PLAIN.test(text) || !URL.canParse(text))
    return `must be a URL of at most ${String(LONGEST)} characters`;
  const { protocol, hostname, username, password } = new URL(text);
  if (text.includes('#')) return 'must have no fragment';
  if (username !== '' || password !== '') return 'must have no user name and password';
  if (protocol !== 'https:' && protocol !== 'http:') {
    if (OWN_SCHEME.test(protocol) || KNOWN_SCHEMES.includes(protocol)) return undefined;
    return `must have https, or a scheme like com.example.app, not ${protocol}`;
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must have // and a host after its scheme';
  if (!HOST.test(hostname)) return 'must have a host of a-z, 0-9, dots and hyphens, or [::1]';
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    return 'must be https, or http on 127.0.0.1, [::1] or localhost';
  return undefined;
}

/** Whether an address is one of the registered ones: the same text, or on this machine one that differs in its port. */
export function isRegistered(address: string, registered: readonly string[]): boolean {
  // an earlier version may have registered what this one refuses
  if (redirectFault(address) !== undefined) return false;
  return registered.includes(address) || registered.some((other) => isSameLocal(address, other));
}

function isSameLocal(address: string, registered: string): boolean {
  const one = new URL(address);
  const other = new URL(registered);
  if (one.protocol !== 'http:' || other.protocol !== 'http:') return false;
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search;
}

/** What people are told of an address: its host with its port, or a scheme other than https and http with `:`, since that decides which app gets it. */
export function hostOf(address: string): string {
  const { protocol, host } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}

/** What a Content-Security-Policy names for a form whose answer leads to an address. */
export function formActionOf(address: string): string {
  const { protocol, hostname, origin } = new URL(address);
  // a source cannot have an IPv6 address as its host
  const isSource = (protocol === 'https:' || protocol === 'http:') && hostname !== '[::1]';
  return isSource ? origin : protocol;
}

/** An address with more parameters in its query. */
export function withParameters(address: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value);
  return `${address}${address.includes('?') ? '&' : '?'}${query.toString()}`;
}
