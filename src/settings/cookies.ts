import type { IncomingMessage, ServerResponse } from 'node:http';

/** A cookie of the settings pages: the session, or a sign-in in progress. */
export interface Cookies {
  read(request: IncomingMessage): string | undefined;
  set(response: ServerResponse, value: string, seconds: number): void;
  clear(response: ServerResponse): void;
}

/** A cookie for this host only; over https with `__Host-`, so that no other host of the domain can set it. */
export function cookie(name: string, publicUrl: string | undefined): Cookies {
  const isSecure = publicUrl?.startsWith('https:') === true;
  const fullName = isSecure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read({ headers }) {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      return pairs.find((pair) => pair.startsWith(`${fullName}=`))?.slice(fullName.length + 1);
    },
    set(response, value, seconds) {
      response.appendHeader('Set-Cookie', `${fullName}=${value}; Max-Age=${String(seconds)}; ${attributes}`);
    },
    clear(response) {
      response.appendHeader('Set-Cookie', `${fullName}=; Max-Age=0; ${attributes}`);
    },
  };
}
