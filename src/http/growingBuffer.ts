/** Minimum size of a buffer that is not empty, in bytes. */
const MIN_SIZE = 16 * 1024;

/** Collects chunks in one buffer, since each chunk of its own costs 440 bytes, however small. It doubles, up to `most` bytes. */
export class GrowingBuffer {
  readonly #most: number;
  readonly #hold: (bytes: number) => void;
  #buffer = Buffer.alloc(0);
  #size = 0;

  /** `hold` is called with the new size in memory before that grows, and may throw to refuse it; {@link append} then throws the same. */
  constructor(most: number, hold: (bytes: number) => void) {
    this.#most = most;
    this.#hold = hold;
  }

  /** Adds a chunk. @throws RangeError if it does not fit into `most` with what is there: callers refuse it before */
  append(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#most) throw new RangeError(`${String(size)} bytes do not fit into ${String(this.#most)}`);
    if (size > this.#buffer.length) {
      const larger = Math.min(this.#most, Math.max(size, 2 * this.#buffer.length, MIN_SIZE));
      this.#hold(larger);
      const buffer = Buffer.allocUnsafeSlow(larger);
      this.#buffer.copy(buffer, 0, 0, this.#size);
      this.#buffer = buffer;
    }
    chunk.copy(this.#buffer, this.#size);
    this.#size = size;
  }

  /** Empties it, and keeps its memory for what comes next. */
  clear(): void {
    this.#size = 0;
  }

  /** A view, which the next {@link append} or {@link clear} makes invalid. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  get sizeInMemory(): number {
    return this.#buffer.length;
  }
}
