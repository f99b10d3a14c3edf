export { Scopegate, type ReadResult, type ScopegateOptions } from './client.js';
export { ScopegateError } from './error.js';
export { formatAmount } from './money.js';
export { type EventsOptions, type StreamEvent } from './stream.js';
export { verifyWebhook, WebhookVerificationError, type WebhookHeaders } from './webhook.js';
export type { Body, Path, Query, Result, Row, Schemas } from './routes.js';
