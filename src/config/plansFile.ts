import * as z from 'zod';
import { MAX_POINTS, MOST_ENDPOINTS, PLAN_NAME, type PlansFile } from '../auth/plans';
import { readText } from './smallFile';

/* PLANS_FILE: what is in the file, and its faults. */

/** Maximum plans: each has limiters of its own in every gateway (contract, section 6). */
const MOST_PLANS = 50;
/** The least limit of storage, in bytes: an organisation's empty collections and indexes have some already. */
export const LEAST_STORAGE = 1_048_576;
/** The greatest limit of storage, in bytes: more than a database holds, and exact in a double. */
export const MOST_STORAGE = 999_999_999_999_999;
/** The greatest limit of active keys: more than an organisation uses. */
export const MOST_KEYS = 1_000_000;

function whole(least: number, most: number, or = ''): z.ZodType<number> {
  const isWithin = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  return z.custom<number>(isWithin, `must be a whole number from ${String(least)} to ${String(most)}${or}`);
}

const plan = z.strictObject(
  {
    api: z.boolean('must be true or false'),
    points_per_minute: whole(1, MAX_POINTS).optional(),
    organisation_points_per_minute: whole(1, MAX_POINTS).optional(),
    active_keys: whole(1, MOST_KEYS).optional(),
    webhook_endpoints: whole(0, MOST_ENDPOINTS).optional(),
    bytes: whole(LEAST_STORAGE, MOST_STORAGE, ', or null').nullable().optional(),
  },
  { error: (issue) => wrongShape(issue, 'an object') },
);

const plansFile = z
  .strictObject(
    {
      plans: z.record(z.string(), plan, 'must be an object with a member for each plan'),
      default: z.string('must be the name of one of plans'),
    },
    { error: (issue) => wrongShape(issue, 'an object with plans and default') },
  )
  .superRefine(({ plans, default: first }, context) => {
    const names = Object.keys(plans);
    const add = (path: string[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    if (names.length === 0 || names.length > MOST_PLANS) add(['plans'], `must have 1 to ${String(MOST_PLANS)} plans`);
    for (const name of names.slice(0, MOST_PLANS)) {
      if (PLAN_NAME.test(name)) continue;
      add(['plans', name], 'must be named by 1 to 40 of a-z, 0-9 and _, a letter first');
    }
    if (!Object.hasOwn(plans, first)) add(['default'], `must be one of ${names.slice(0, MOST_PLANS).join(', ')}`);
  });

function wrongShape(issue: { readonly code?: string | undefined; readonly keys?: unknown }, shape: string): string {
  if (issue.code !== 'unrecognized_keys') return `must be ${shape}`;
  return `has ${(issue.keys as readonly string[]).join(', ')}, which is no setting`;
}

/** Reads PLANS_FILE for zod's transform: each fault goes to `context` with its place in the file, and nothing is returned then. */
export function readPlansFile(path: string, context: z.RefinementCtx): PlansFile {
  const add = (message: string): PlansFile => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const read = readText(path);
  if ('error' in read) return add(read.error);
  let content: unknown;
  try {
    content = JSON.parse(read.text);
  } catch (error) {
    return add(`${path} is not JSON: ${(error as Error).message}`);
  }
  const result = plansFile.safeParse(content);
  if (result.success) return result.data;
  for (const { path: place, message } of result.error.issues) add(`${[path, ...place].join(': ')}: ${message}`);
  return z.NEVER;
}
