/** All states of an organisation, and what each allows. */
export const STATES = {
  active: { requests: true, data: true },
  suspended: { requests: false, data: true },
  /** Cannot be resumed. */
  erasing: { requests: false, data: false },
} as const satisfies Record<
  string,
  {
    readonly requests: boolean;
    readonly data: boolean;
  }
>;

export type OrganisationState = keyof typeof STATES;
