/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do if it is not ok. */
  readonly fix?: string;
}
