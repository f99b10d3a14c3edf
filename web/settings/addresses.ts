import { at } from '../base';
import { SETTINGS_PAGES } from '../../src/settings/documents';
import { settings } from './api';

/* Addresses of the settings pages. Those of a sandbox say so, so that a shared link never shows somebody else live data instead. */

const LIVE = at('/settings');
/** What the addresses of this document's pages begin with. */
export const ROOT = settings.isSandbox ? `${LIVE}/sandbox` : LIVE;
const LIVE_PAGE = new RegExp(`^${LIVE}(?=/(?:${SETTINGS_PAGES.join('|')})\\b)`);

/** The address of a path of the gateway; `/settings/keys` is that of the data that is shown. A whole URL stays as it is. */
export const addressOf = (path: string): string => (path.startsWith('/') ? ofShownData(at(path)) : path);

/** The address of the same page with the data that is shown: of live data, if the sandbox is. */
export const ofShownData = (address: string): string => address.replace(LIVE_PAGE, ROOT);
