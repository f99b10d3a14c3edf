import { ETAG } from './entityTags';
import { METADATA_VALUE } from './metadata';

/** Fields of stored types that are computed from the row instead of being stored, with how (derivedFields.ts), by name. */
export const COMPUTED_FIELDS = new Map([
  [ETAG, 'tag'],
  [METADATA_VALUE, 'metadataValue'],
] as const) as ReadonlyMap<string, 'tag' | 'metadataValue'>;
