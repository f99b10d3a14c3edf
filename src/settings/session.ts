import type { IncomingMessage } from 'node:http';
import type { Config } from '../config';
import type { Session, Sessions } from '../organisations/sessions';
import { cookie, type Cookies } from './cookies';

/** The sessions of browsers, by their cookie. */
export interface BrowserSessions {
  readonly cookie: Cookies;
  /** The session of a request and its token; undefined if nobody is signed in. */
  find(request: IncomingMessage): Promise<{ readonly token: string; readonly session: Session } | undefined>;
}

export function browserSessions({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, sessions: Sessions): BrowserSessions {
  const sessionCookie = cookie('scopegate_session', PUBLIC_URL);
  return {
    cookie: sessionCookie,
    async find(request) {
      const token = sessionCookie.read(request);
      const session = token === undefined ? undefined : await sessions.find(token);
      return token === undefined || !session ? undefined : { token, session };
    },
  };
}
