/** All plans, and which of them include API access (integrations). */
export const PLANS = {
  starter: { integrations: false },
  integrations: { integrations: true },
  enterprise: { integrations: true },
} as const;

export type Plan = keyof typeof PLANS;
