import { type Failure, createLatestRun } from './api';

export interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor?: string | null;
}

/** Something that is read as a whole. `draw` shows it after each change. An answer that arrives after another choice was made is dropped. */
export class Reading<T> {
  /** What was read last; it stays while it is being read again. */
  value: T | undefined;
  failure: Failure | undefined;
  isBusy = false;
  /** What to do after a failure. */
  again: () => unknown = () => this.load();
  readonly #latestRun = createLatestRun();

  constructor(
    readonly read: () => Promise<T>,
    readonly draw: () => void,
  ) {}

  /** Forgets what was read. */
  clear(): void {
    this.#latestRun.drop();
    this.value = undefined;
    this.failure = undefined;
    this.isBusy = false;
    this.draw();
  }

  /** Resolves with whether it was read. */
  load = (): Promise<boolean> => this.run(this.read);

  protected async run(work: () => Promise<T>): Promise<boolean> {
    this.isBusy = true;
    this.draw();
    const again = (): Promise<boolean> => this.run(work);
    const show = (failure: Failure | undefined): void => {
      this.failure = failure;
      this.again = again;
      this.isBusy = false;
    };
    const value = await this.#latestRun.attempt(work, show, again);
    if (value !== undefined) this.value = value;
    this.draw();
    return value !== undefined;
  }
}

/** A list that is read page by page. */
export class List<P extends Page> extends Reading<readonly P[]> {
  constructor(
    readonly readPage: (cursor: string | null) => Promise<P>,
    draw: () => void,
  ) {
    super(async () => [await readPage(null)], draw);
  }

  get rows(): readonly P['data'][number][] {
    return this.value?.flatMap(({ data }) => data) ?? [];
  }

  get cursor(): string | null {
    return this.value?.at(-1)?.next_cursor ?? null;
  }

  more = (): Promise<boolean> => this.run(async () => [...(this.value ?? []), await this.readPage(this.cursor)]);
}
