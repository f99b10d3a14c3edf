import { messageOf } from '../common/failure';

/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do if it is not ok, or about a warning if it is. */
  readonly fix?: string;
}

/** A failure with a fix other than its check's. */
export class Finding extends Error {
  constructor(
    detail: string,
    readonly fix: string,
  ) {
    super(detail);
  }
}

/** The check's detail is what `look` returns or, if it throws, the error's message. */
export async function examine(name: string, fix: string, look: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, ok: true, detail: await look() };
  } catch (error) {
    return { name, ok: false, detail: messageOf(error), fix: error instanceof Finding ? error.fix : fix };
  }
}
