import { AsyncResource } from 'node:async_hooks';

/* Work that a request causes and that others share, or that goes on after it. */

// made while the program is loaded, so that no request surrounds it
const outside = new AsyncResource('background');

/** Runs work outside of the request that causes it, so that its commands are no part of the request's trace. Returns and throws what it does. */
export const inBackground = <T>(work: () => T): T => outside.runInAsyncScope(work);
