import { ETAG } from './entityTags';
import { METADATA_VALUE } from './metadata';

/** Fields of stored types whose values are worked out from the row, by name. */
export const WORKED_OUT = new Map([
  [ETAG, 'tag'],
  [METADATA_VALUE, 'metadataValue'],
] as const) as ReadonlyMap<string, 'tag' | 'metadataValue'>;
