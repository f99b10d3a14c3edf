/** The path of the gateway at its host (PUBLIC_URL), and its address: pages know no other way, since a proxy removes the path. */
export const BASE = document.documentElement.dataset.base ?? '';
export const GATEWAY = location.origin + BASE;

/** The address of a path of the gateway. */
export const at = (path: string): string => BASE + path;
