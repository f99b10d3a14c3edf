/** Files of an export beside those with records. */
export const ORGANISATION_FILE = 'organisation.json';
export const KEYS_FILE = 'keys.ndjson';
