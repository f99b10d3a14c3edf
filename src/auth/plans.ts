import { modeOf, type Organisation } from './principal';

/* What the plan of an organisation includes (docs/decisions/plans.md). */

/** What an organisation on a plan may do and have. */
export interface Plan {
  readonly name: string;
  /** Whether its keys and webhooks work. */
  readonly api: boolean;
  /** Of each key. */
  readonly points_per_minute: number;
  /** Of all its keys together. */
  readonly organisation_points_per_minute: number;
  readonly active_keys: number;
  readonly webhook_endpoints: number;
  /** That it stores; null for no limit. */
  readonly bytes: number | null;
}

/** The content of PLANS_FILE. A member that a plan lacks has the value of its variable, or {@link DEFAULT_ENDPOINTS}, for which there is none. */
export interface PlansFile {
  readonly plans: Readonly<Record<string, PlanInFile>>;
  /** The plan of organisations that are created without one. */
  readonly default: string;
}

type PlanInFile = { readonly api: boolean } & {
  readonly [Member in keyof Omit<Plan, 'name' | 'api'>]?: Plan[Member] | undefined;
};

/** The variables that plans follow from. */
export interface PlanVariables {
  readonly PLANS_FILE: PlansFile | undefined;
  readonly RATE_LIMIT_PER_MINUTE: number;
  readonly RATE_LIMIT_ORGANISATION: number | undefined;
  readonly MAX_KEYS: number;
  readonly MAX_ORGANISATION_BYTES: number | undefined;
}

/** The form of a plan's name. */
export const PLAN_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** The most points per minute that a plan may allow (a request costs one or more); GraphQL's Int can hold it. */
export const MAX_POINTS = 1_000_000_000;
/** The most webhook endpoints that a plan may include: a list of them is one page. */
export const MOST_ENDPOINTS = 100;
const DEFAULT_ENDPOINTS = 20;
/** Default points of an organisation, as a multiple of a key's. */
const ORGANISATION_FACTOR = 10;

/** The plans without PLANS_FILE. */
const BUILT_IN: PlansFile = {
  plans: { starter: { api: false }, integrations: { api: true }, enterprise: { api: true } },
  default: 'integrations',
};

export type Plans = ReturnType<typeof createPlans>;

type OnPlan = Pick<Organisation, 'plan'>;

export function createPlans(variables: PlanVariables) {
  const { plans, default: defaultName } = variables.PLANS_FILE ?? BUILT_IN;
  const byName = new Map(Object.entries(plans).map(([name, inFile]) => [name, withDefaults(name, inFile, variables)]));
  const unknown = withDefaults('', { api: false }, variables);
  return {
    /** In the order of the file. */
    all: [...byName.values()] as readonly Plan[],
    /** The name of the plan of organisations that are created without one. */
    defaultName,
    /** Of organisations whose plan PLANS_FILE lacks: no API access, and the limits of the variables. */
    unknown,
    has: (name: string): boolean => byName.has(name),
    of: ({ plan }: OnPlan): Plan => byName.get(plan) ?? unknown,
    /** Whether an organisation's keys and webhooks work. A sandbox's work on every plan. */
    hasApi: (organisation: Pick<Organisation, 'plan' | 'sandbox_of'>): boolean =>
      byName.get(organisation.plan)?.api === true || modeOf(organisation) === 'test',
    /** What is wrong with a name that is given to an organisation, as a clause; undefined for that of a plan. */
    faultOf: (name: string): string | undefined =>
      byName.has(name) ? undefined : `must be one of ${[...byName.keys()].join(', ')}`,
    /** The setting that an operator raises to allow more active keys. */
    settingOfActiveKeys: ({ plan }: OnPlan): string =>
      variables.PLANS_FILE?.plans[plan]?.active_keys === undefined
        ? 'MAX_KEYS'
        : `active_keys of ${plan} in PLANS_FILE`,
  };
}

function withDefaults(name: string, inFile: PlanInFile, variables: PlanVariables): Plan {
  const { points_per_minute = variables.RATE_LIMIT_PER_MINUTE } = inFile;
  const byFactor = Math.min(MAX_POINTS, ORGANISATION_FACTOR * points_per_minute);
  return {
    name,
    api: inFile.api,
    points_per_minute,
    organisation_points_per_minute:
      inFile.organisation_points_per_minute ?? variables.RATE_LIMIT_ORGANISATION ?? byFactor,
    active_keys: inFile.active_keys ?? variables.MAX_KEYS,
    webhook_endpoints: inFile.webhook_endpoints ?? DEFAULT_ENDPOINTS,
    bytes: inFile.bytes === undefined ? (variables.MAX_ORGANISATION_BYTES ?? null) : inFile.bytes,
  };
}
