/** The address that signs a browser in once with the token of a link; `base` is the gateway's. */
export function signInUrl(base: string, token: string): string {
  return `${base}/settings/sign-in?link=${token}`;
}
