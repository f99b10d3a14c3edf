import type { Request, Response } from 'express';
import { createAttemptLimit, type RateLimiter } from '../admission/rateLimit';
import type { Config } from '../config';
import { AppError, notFound } from '../errors';
import type { Control } from '../organisations/control';
import { demoAdmin } from '../organisations/sessions';
import { isToken } from '../organisations/signInTokens';
import type { Html } from '../pages/html';
import { visibleDemoKey } from '../pages/page';
import { type BrowserSessions, checkOrigin, createCookie } from './cookies';
import { ATTEMPT_SECONDS, CALLBACK_PATH, type OpenId, createOpenId } from './openid';
import type { Reply, Routes } from './route';
import { DEMO_SIGN_IN, renderLink, renderSignIn, SIGN_IN, type SignInOptions } from './signInPage';

export interface SignInRoutesOptions {
  readonly config: Config;
  readonly control: Control;
  readonly sessions: BrowserSessions;
  /** Limits invalid sign-in links, sessions and returns from the identity provider, per address. */
  readonly failures: RateLimiter;
  /** The key of the demo; undefined if this is none. */
  readonly demoKey: string | undefined;
  /** The database's time. */
  readonly now: () => number;
  /** Called with errors of the identity provider. */
  readonly onError: (error: unknown) => void;
}

/** Gives the browser the token of a new session, and sends it to the page that was asked for before; without a token, to the start page. */
export type Begin = (request: Request, response: Response, token?: string) => Reply;

/** The routes that sign people in: by link or invitation, with the identity provider, and as the admin of a demo. */
export function signInRoutes(options: SignInRoutesOptions, begin: Begin): Routes {
  const { config, control, sessions, failures, demoKey } = options;
  const attemptLink = createAttemptLimit(failures, 'link', 'Too many invalid sign-in links from this address');
  const tooMany = 'Too many failed sign-ins with the identity provider from this address';
  const attemptReturn = createAttemptLimit(failures, 'openid', tooMany);
  // without FRAME_ANCESTORS: an identity provider does not show itself in a frame (docs/decisions/brand.md)
  const attemptCookie = createCookie('scopegate_sign_in', { PUBLIC_URL: config.PUBLIC_URL });
  const provider = createOpenId(options);
  const requireProvider = (): OpenId => {
    if (!provider) throw new AppError('not_found', 'No identity provider is configured.');
    return provider;
  };

  const used = provider ? 'usedOrInvitation' : 'used';
  // only to browsers on this machine, which see the demo's key as well
  const isDemo = (request: Request): boolean => visibleDemoKey(request, demoKey) !== undefined;
  const signInPage = (request: Request, more: Pick<SignInOptions, 'hasEnded' | 'failure'>): Html =>
    renderSignIn({
      hasProvider: provider !== undefined,
      contactUrl: config.CONTACT_URL,
      isDemo: isDemo(request),
      ...more,
    });

  return {
    [SIGN_IN]: {
      async get(request, response, exchange) {
        const { link } = request.query;
        const openSession = await sessions.find(exchange);
        if (link === undefined && openSession) return begin(request, response);
        if (link === undefined) return { page: signInPage(request, { hasEnded: sessions.hasToken(request) }) };
        // only the button's POST consumes a link, because mail scanners and previews follow links too
        if (typeof link === 'string' && isToken(link)) {
          const offer = await attemptLink(exchange.address, () => control.sessions.offerOf(link));
          if (offer) return { page: renderLink(link, offer, openSession?.session) };
          return { status: 410, page: signInPage(request, { failure: used }) };
        }
        return { status: 400, page: signInPage(request, { failure: 'incomplete' }) };
      },
      async post(request, response, { address }) {
        checkOrigin(request, config.PUBLIC_URL);
        const link = (request.body as { link?: unknown } | undefined)?.link;
        const token = await attemptLink(address, async () =>
          typeof link === 'string' ? control.sessions.useLink(link, address) : undefined,
        );
        if (token !== undefined) return begin(request, response, token);
        return { status: 410, page: signInPage(request, { failure: used }) };
      },
    },
    [DEMO_SIGN_IN]: {
      async post(request, response, { address }) {
        checkOrigin(request, config.PUBLIC_URL);
        const organisation = isDemo(request) ? await control.organisations.findDemo() : undefined;
        const token = organisation && (await control.sessions.start(demoAdmin(organisation.id), address));
        if (token === undefined) throw notFound('page');
        return begin(request, response, token);
      },
    },
    [`${SIGN_IN}/oidc`]: {
      async get(_request, response) {
        const { url, attempt } = await requireProvider().begin();
        attemptCookie.set(response, attempt, ATTEMPT_SECONDS);
        return { to: url };
      },
    },
    [CALLBACK_PATH]: {
      async get(request, response, { address, search }) {
        const identityProvider = requireProvider();
        const attempt = identityProvider.readAttempt(attemptCookie.read(request));
        // the one that was started last, maybe in another tab, can still be finished
        if (attempt && attempt.state !== request.query.state)
          throw new AppError(
            'forbidden',
            'Another sign-in was started after this one. Finish that one, or start again.',
          );
        attemptCookie.clear(response);
        if (!attempt)
          throw new AppError('forbidden', 'This sign-in was started in another browser or has expired. Start again.');
        const token = await attemptReturn(address, async () =>
          control.sessions.start(await identityProvider.finish(search, attempt), address),
        );
        if (token !== undefined) return begin(request, response, token);
        throw new AppError('forbidden', 'The identity provider returned an unknown organisation.');
      },
    },
  };
}
