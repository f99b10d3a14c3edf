import { type Failure, newest } from './api';

export interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor?: string | null;
}

/** Something that is read as a whole; see List. */
export class Reading<T> {
  value: T | undefined;
  failure: Failure | undefined;
  again: () => unknown = () => this.load();
  readonly #newest = newest();

  constructor(
    readonly read: () => Promise<T>,
    readonly draw: () => void,
  ) {}

  clear(): void {
    this.#newest.drop();
    this.value = undefined;
    this.failure = undefined;
    this.draw();
  }

  load = async (): Promise<void> => {
    const value = await this.#newest.attempt(this.read, (failure) => (this.failure = failure), this.load);
    if (value !== undefined) this.value = value;
    this.draw();
  };
}

/** A list that is read page by page. `draw` shows it after each change. An answer that comes after another choice was made is dropped. */
export class List<P extends Page> {
  /** What was read; undefined before the first page. It stays while it is read again. */
  pages: readonly P[] | undefined;
  failure: Failure | undefined;
  isBusy = false;
  /** What to do after a failure. */
  again: () => unknown = () => this.load();
  readonly #newest = newest();

  constructor(
    readonly read: (cursor: string | null) => Promise<P>,
    readonly draw: () => void,
  ) {}

  get rows(): readonly P['data'][number][] {
    return this.pages?.flatMap(({ data }) => data) ?? [];
  }

  get cursor(): string | null {
    return this.pages?.at(-1)?.next_cursor ?? null;
  }

  /** Forgets what was read. */
  clear(): void {
    this.#newest.drop();
    this.pages = undefined;
    this.failure = undefined;
    this.isBusy = false;
    this.draw();
  }

  /** Reads the first page. */
  load = (): Promise<void> => this.#read(null, () => []);

  /** Reads on. */
  more = (): Promise<void> => this.#read(this.cursor, () => this.pages ?? []);

  async #read(cursor: string | null, before: () => readonly P[]): Promise<void> {
    this.isBusy = true;
    this.draw();
    const again = (): Promise<void> => this.#read(cursor, before);
    const page = await this.#newest.attempt(
      () => this.read(cursor),
      (failure) => {
        this.failure = failure;
        this.again = again;
        this.isBusy = false;
      },
      again,
    );
    if (page) this.pages = [...before(), page];
    this.draw();
  }
}
