/** The one-time sign-in URL for a link's token; `base` is the gateway's URL. */
export function signInUrl(base: string, token: string): string {
  return `${base}/settings/sign-in?link=${token}`;
}
