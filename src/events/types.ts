import { eventTypesOf, publicCollections } from '../schema/eventTypes';
import { loadDocument } from '../schema/sdl';

export { GAP, type PublicCollection } from '../schema/eventTypes';

/** Every collection with public objects, by its name. */
export const PUBLIC = publicCollections(loadDocument());

/** Every type of event. */
export const EVENT_TYPES = eventTypesOf(loadDocument());
