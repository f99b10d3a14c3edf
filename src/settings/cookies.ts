import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config';
import type { Session, Sessions } from '../organisations/sessions';

/**
 * A cookie of the settings pages (the session, or a sign-in in progress), for this host only; over https with `__Host-`, so that no other
 * host of the domain can set it.
 */
export function cookie(name: string, publicUrl: string | undefined) {
  const isSecure = publicUrl?.startsWith('https:') === true;
  const fullName = isSecure ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read({ headers }: IncomingMessage): string | undefined {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      return pairs.find((pair) => pair.startsWith(`${fullName}=`))?.slice(fullName.length + 1);
    },
    set(response: ServerResponse, value: string, seconds: number): void {
      response.appendHeader('Set-Cookie', `${fullName}=${value}; Max-Age=${String(seconds)}; ${attributes}`);
    },
    clear(response: ServerResponse): void {
      response.appendHeader('Set-Cookie', `${fullName}=; Max-Age=0; ${attributes}`);
    },
  };
}

export type BrowserSessions = ReturnType<typeof browserSessions>;

/** The sessions of browsers, by their cookie. */
export function browserSessions({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, sessions: Sessions) {
  const sessionCookie = cookie('scopegate_session', PUBLIC_URL);
  return {
    cookie: sessionCookie,
    /** The session of a request and its token; undefined if nobody is signed in. */
    async find(request: IncomingMessage): Promise<{ token: string; session: Session } | undefined> {
      const token = sessionCookie.read(request);
      const session = token === undefined ? undefined : await sessions.find(token);
      return token === undefined || !session ? undefined : { token, session };
    },
  };
}
