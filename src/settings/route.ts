import type { Request, Response } from 'express';
import type { Exchange } from '../http/exchange';
import type { Html } from '../pages/html';

/** A route's answer: a page, or a redirect (303) to a path of this gateway or the URL of another site. */
export type Reply = { readonly page: Html; readonly status?: number } | { readonly to: string };
export type Route = (request: Request, response: Response, exchange: Exchange) => Promise<Reply> | Reply;
/** Routes by their paths. */
export type Routes = Record<string, Partial<Record<'get' | 'post', Route>>>;
