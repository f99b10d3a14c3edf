import { published } from '../schema/model';

export { GAP, type PublicCollection } from '../schema/eventTypes';

/** Every collection with public objects, by its name. */
export const PUBLIC = published.collections;

/** Every type of event. */
export const EVENT_TYPES = published.eventTypes;
