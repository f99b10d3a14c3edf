import { hash } from 'node:crypto';
import express, { type Router } from 'express';
import { asset } from './assets';
import { type Html, html, SITE_HEAD, SITE_HOME, SITE_LOGO, SITE_NAME } from './html';

/* What is the same on all pages of a gateway, and differs between gateways: their path, and the brand (docs/decisions/brand.md). */

export interface Brand {
  readonly name: string;
  /** What the API is for, as a sentence; ours if undefined. */
  readonly description?: string | undefined;
  /** Where the name leads; undefined for the landing page. */
  readonly home?: string | undefined;
  readonly logo?: { readonly type: string; readonly bytes: Buffer } | undefined;
  /** Colours of light and dark pages, instead of those in web/tokens.css. */
  readonly accents?: Readonly<Record<'ground' | 'line' | 'text', readonly [light: string, dark: string]>> | undefined;
  /** With what keys, and those of sandboxes, begin, if not as ours. */
  readonly keyPrefixes?: Readonly<Record<'live' | 'test', string>> | undefined;
}

export interface Site {
  /** Path of the pages, which a proxy in front removes; empty if there is none. */
  readonly path: string;
  readonly name: string;
  readonly description: string | undefined;
  /** Path of the icon that browsers show, without the site's: the logo, or ours. */
  readonly icon: string;
  /** The text of a document that `layout` made, with the site's own name, logo, colours, path and prefixes of keys. */
  textOf(document: Html): string;
  /** A text of ours with the site's own prefixes of keys. */
  withPrefixes(text: string): string;
  /** Serves its files, below /assets. */
  readonly files: Router;
}

/** The logo: a gate with a keyhole, as in web/favicon.svg. */
const LOGO = html`<svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
  <rect width="32" height="32" rx="8" />
  <path d="M7 25V14.5a9 9 0 0 1 18 0V25" fill="none" stroke-width="2.6" stroke-linecap="round" />
  <circle cx="16" cy="16.2" r="2.9" />
  <path d="M16 17.5 18.2 25h-4.4z" />
</svg>`;
/** Matches before each address of this gateway in an attribute, and in no text, whose quotes are escaped. */
const ADDRESS = /( (?:href|src|action)=")(?=\/)/g;
/** Matches the prefixes of keys, as our texts have them, and not at the end of another. */
const PREFIXES = /\bsvc_(live|test)_/g;
/** In seconds. */
const YEAR = 31_536_000;

const OURS: Brand = { name: 'Scopegate' };

export function createSite(path = '', { name, description, home, logo, accents, keyPrefixes }: Brand = OURS): Site {
  const files = express.Router({ caseSensitive: true });
  /** Serves a file under a name that changes with its contents; its path. */
  const serve = (name: string, ending: string, type: string, bytes: Buffer): string => {
    const file = `/${name}-${hash('sha256', bytes, 'hex').slice(0, 8)}.${ending}`;
    files.get(file, (_request, response) => {
      response.set('Cache-Control', `public, max-age=${String(YEAR)}, immutable`);
      // an SVG that is opened by itself runs nothing, either
      response.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      response.type(type).send(bytes);
    });
    return `/assets${file}`;
  };
  const image = logo && serve('logo', logo.type === 'image/png' ? 'png' : 'svg', logo.type, logo.bytes);
  const sheet = accents && serve('brand', 'css', 'text/css', Buffer.from(styleOf(accents)));
  const icon = image ?? asset('favicon.svg');
  const textByMark = new Map([
    [SITE_NAME.text, html`${name}`.text],
    [SITE_HOME.text, html`${home ?? '/'}`.text],
    [
      SITE_LOGO.text,
      (image === undefined ? LOGO : html`<img class="logo" src="${image}" width="28" height="28" alt="" />`).text,
    ],
    [
      SITE_HEAD.text,
      html`<link rel="icon" type="${logo?.type ?? 'image/svg+xml'}" href="${icon}" />
        ${sheet === undefined ? undefined : html`<link rel="stylesheet" href="${sheet}" />`}`.text,
    ],
  ]);
  const withPrefixes = (text: string): string =>
    keyPrefixes ? text.replaceAll(PREFIXES, (_ours, mode: 'live' | 'test') => keyPrefixes[mode]) : text;
  const marks = new RegExp([...textByMark.keys()].join('|'), 'g');
  return {
    path,
    name,
    description,
    icon,
    files,
    withPrefixes,
    textOf({ text }) {
      const named = withPrefixes(text).replaceAll(marks, (mark) => textByMark.get(mark) ?? '');
      if (path === '') return named;
      // scripts read the path there (web/base.ts)
      return named.replace('<html ', `<html data-base="${path}" `).replaceAll(ADDRESS, `$1${path}`);
    },
  };
}

/** The style sheet of accents. Its selector is more specific than that of web/tokens.css, which is read after it. */
function styleOf({ ground, line, text }: NonNullable<Brand['accents']>): string {
  const accent = (name: string, [light, dark]: readonly [string, string]): string =>
    `--accent-${name}: light-dark(${light}, ${dark});`;
  return `html:root { ${accent('1', ground)} ${accent('2', line)} ${accent('3', text)} }\n`;
}
