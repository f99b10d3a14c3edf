import { type Failure, reason, settled } from './api';
import { noteFound, noteLost, readLost } from './retries';

export interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor?: string | null;
}

/**
 * Something that is read as a whole. `draw` shows it after each change. An answer that arrives after another choice was made is dropped.
 * If the gateway is away, it is read again once it is back (retries.ts), and until then the page says so.
 */
export class Reading<T> {
  /** What was read last; it stays while it is being read again. */
  value: T | undefined;
  failure: Failure | undefined;
  isBusy = false;
  /** What to do after a failure. */
  again: () => unknown = () => this.reload();
  /** The number of the newest run, the only one that counts. */
  #run = 0;

  constructor(
    readonly read: () => Promise<T>,
    readonly draw: () => void,
    /** Reads it again after a failure, with what else can only be read then. */
    readonly reload: () => unknown = () => this.load(),
  ) {}

  /** Forgets what was read. */
  clear(): void {
    this.show(undefined);
  }

  /** Shows what was read in another way. */
  show(value: T | undefined): void {
    this.#run += 1;
    noteFound(this);
    this.value = value;
    this.failure = undefined;
    this.isBusy = false;
    this.draw();
  }

  /** Resolves with whether it was read. */
  load = (): Promise<boolean> => this.run(this.read, this.reload);

  protected async run(work: () => Promise<T>, again: () => unknown = () => this.run(work)): Promise<boolean> {
    this.#run += 1;
    const ownRun = this.#run;
    this.isBusy = true;
    this.draw();
    const [value, failure] = await settled(work());
    if (ownRun !== this.#run) return false;
    const isLost = failure?.isUnsure === true;
    this.again = again;
    this.failure = isLost ? undefined : failure;
    this.value = failure ? this.value : value;
    this.isBusy = false;
    this.draw();
    if (isLost) noteLost(this, again, reason(failure));
    else if (noteFound(this) && !failure) void readLost();
    return !failure;
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
