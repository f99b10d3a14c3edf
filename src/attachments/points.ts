import { MEBIBYTE } from '../units';

/** What so many bytes cost, up or down: a point for each mebibyte begun, and at least the one of the request. */
export const pointsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / MEBIBYTE));
