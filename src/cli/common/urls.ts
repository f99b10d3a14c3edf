/** The one-time sign-in URL for a link's token; `base` is the gateway's URL. */
export function signInUrl(base: string, token: string): string {
  return `${base}/settings/sign-in?link=${token}`;
}

/** The URL at which a browser on this machine can open a gateway: 0.0.0.0 and :: mean all of its addresses. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
