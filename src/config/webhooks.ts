import { z } from 'zod';
import { parseRange, rangeFault } from '../auth/addresses';

/* The variables of webhooks. */

/** A secret that is shorter could be guessed from one signature. */
const LEAST_SECRET = 32;

function readRanges(text: string, context: z.RefinementCtx): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .flatMap((item) => {
      const range = parseRange(item);
      if (range === undefined) context.addIssue({ code: 'custom', message: `${item} ${rangeFault(item)}` });
      return range ?? [];
    });
}

export const WEBHOOK_VARIABLES = {
  WEBHOOK_SECRET: {
    schema: z
      .string()
      .min(LEAST_SECRET, `must have at least ${String(LEAST_SECRET)} characters; openssl rand -hex 32 makes one`)
      .optional(),
    help: 'master secret that the secrets of webhook endpoints are derived from; without it no webhooks, except with the embedded database',
  },
  WEBHOOK_ALLOWED_RANGES: {
    schema: z.string().transform(readRanges).optional(),
    help: 'CIDR ranges, comma-separated, that webhooks may be sent to although they are not public, and over http too (default none; loopback with the embedded database)',
  },
} as const;
