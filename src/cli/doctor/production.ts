import ipaddr from 'ipaddr.js';
import type { Config } from '../../config';
import { SHARE_LIMITS, unsharedLimits } from '../unsharedLimits';
import { type Check, type CheckResult, Finding, examine } from './check';

/*
 * What production needs of the environment, and a gateway starts without: doctor --production. In the order of docs/guides/production.md, which has the
 * reasons and what cannot be seen from here; productionServers.ts has what needs the database.
 */

export const PAGE = 'docs/guides/production.md';

interface Need {
  readonly name: string;
  readonly look: (config: Config) => string | CheckResult;
}

const NEEDS: readonly Need[] = [
  {
    name: 'NODE_ENV',
    look({ NODE_ENV }) {
      if (NODE_ENV === 'production') return 'is production';
      throw new Finding(
        'is not production, so serve would start without MONGODB_URI and KEY_PEPPER',
        'set NODE_ENV=production for every gateway and command',
      );
    },
  },
  {
    name: 'MONGODB_URI',
    look({ MONGODB_URI }) {
      if (MONGODB_URI !== undefined) return 'is set';
      throw new Finding('is not set: the embedded database is for development', 'set MONGODB_URI to a replica set');
    },
  },
  {
    name: 'KEY_PEPPER',
    look({ KEY_PEPPER }) {
      if (KEY_PEPPER !== '') return 'is set';
      throw new Finding(
        'is not set: who reads the control database can try keys against their hashes',
        'set it before the first key is created, and keep a copy apart from the database',
      );
    },
  },
  {
    name: 'PUBLIC_URL',
    look({ PUBLIC_URL }) {
      const fix = 'set it to the https:// URL at which callers and browsers reach the proxy that ends TLS';
      if (PUBLIC_URL === undefined)
        throw new Finding('is not set: links to sign in and cookies are not bound to https', fix);
      if (!PUBLIC_URL.startsWith('https:'))
        throw new Finding('is not https: keys and sessions can be read on the way', fix);
      return 'is https';
    },
  },
  {
    name: 'TRUST_PROXY',
    look({ TRUST_PROXY }) {
      if (TRUST_PROXY > 0) return `is ${String(TRUST_PROXY)}`;
      throw new Finding(
        'is 0, but the gateway itself has no TLS: to it, every caller has the address of the proxy that does',
        'set it to the number of proxies in front, and have the first remove X-Forwarded-For of callers',
      );
    },
  },
  {
    name: 'HOST',
    look({ HOST, TRUST_PROXY }) {
      if (isLoopback(HOST)) return `is ${HOST}: the proxy is on this machine`;
      const detail = `is ${HOST}`;
      const fix =
        'let only the proxy connect to PORT (a firewall or network policy): whoever else can names any address as its own';
      return TRUST_PROXY > 0 ? { detail: `${detail}, and TRUST_PROXY believes whoever connects`, fix } : detail;
    },
  },
  {
    name: 'ADMIN_PORT',
    look({ ADMIN_PORT, METRICS, OPERATOR_TOKENS }) {
      const operators = OPERATOR_TOKENS.length > 0;
      if (ADMIN_PORT !== undefined) return 'is set: metrics and the operator API are not at the port of callers';
      const fix = 'set ADMIN_PORT, and let only Prometheus and your product connect to it';
      if (operators) throw new Finding('is not set, so the operator API is at the port of callers', fix);
      if (METRICS === 'public') throw new Finding('is not set, and METRICS=public shows metrics to all callers', fix);
      if (METRICS === 'off') return 'is not set, and nothing needs it: METRICS=off, and there are no OPERATOR_TOKENS';
      return { detail: `is not set: /metrics is at the port of callers, for METRICS=${METRICS}`, fix };
    },
  },
  {
    name: 'WEBHOOK_SECRET',
    look({ WEBHOOK_SECRET }) {
      if (WEBHOOK_SECRET !== undefined) return 'is set';
      const fix = 'set it, and keep a copy: the secrets of all endpoints are derived from it';
      return { detail: 'is not set: there are no webhooks', fix };
    },
  },
  {
    name: 'WEBHOOK_ALLOWED_RANGES',
    look({ WEBHOOK_ALLOWED_RANGES: ranges }) {
      if (ranges === undefined || ranges.length === 0) return 'is not set: webhooks go to public addresses only';
      const fix = 'keep only what receivers of webhooks need, and let gateways connect to no other private address';
      return { detail: `lets customers’ webhooks reach ${ranges.join(', ')}`, fix };
    },
  },
  {
    name: 'REDIS_URL',
    look({ REDIS_URL, INSTANCES }) {
      if (REDIS_URL !== undefined) return 'is set';
      const detail = unsharedLimits({ REDIS_URL, INSTANCES });
      if (detail === undefined) return 'is not set, and INSTANCES is 1: one gateway, which a deploy or a fault stops';
      throw new Finding(detail, SHARE_LIMITS);
    },
  },
  {
    name: 'by hand',
    look: () =>
      `cannot be seen from here: copies of the pepper and WEBHOOK_SECRET apart from backups, alerts that reach a person, a rehearsed restore, a process manager, egress of gateways, writers of your own stopped before erasing (${PAGE})`,
  },
];

/** Checks of settings that need no database. */
export async function* settingsForProduction(config: Config): AsyncGenerator<Check> {
  for (const { name, look } of NEEDS) yield await examine(`production: ${name}`, `see ${PAGE}`, () => look(config));
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
