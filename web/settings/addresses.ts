import { at, BASE } from '../base';
import { SETTINGS_PAGES } from '../../src/settings/documents';
import { settings } from './api';

/* Addresses of the settings pages. Those of a sandbox say so, so that a shared link never shows somebody else live data instead. */

const LIVE = at('/settings');
/** What the addresses of this document's pages begin with. */
export const ROOT = settings.isSandbox ? `${LIVE}/sandbox` : LIVE;
const LIVE_PAGE = new RegExp(`^${LIVE}(?=/(?:${SETTINGS_PAGES.join('|')})\\b)`);

/** The address of a path of the gateway, which may be an address already; `/settings/keys` is that of the data that is shown. */
export function addressOf(path: string): string {
  if (!path.startsWith('/')) return path;
  const address = BASE !== '' && path.startsWith(at('/')) ? path : at(path);
  return address.replace(LIVE_PAGE, ROOT);
}
