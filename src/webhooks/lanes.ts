export interface LanesOptions<T> {
  /** How many lanes may run at the moment. */
  readonly width: () => number;
  /** Whether nothing more may begin. */
  readonly isOver: () => boolean;
  /** Does one item. False ends its lane. */
  readonly each: (item: T) => Promise<boolean>;
}

/** Does the items of each lane one after another, several lanes at the same time. @throws what the first failing item does, once all have ended */
export async function runLanes<T>(
  lanes: readonly (readonly T[])[],
  { width, isOver, each }: LanesOptions<T>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];

  async function run(lane: readonly T[]): Promise<void> {
    try {
      for (const item of lane) if (failures.length > 0 || isOver() || !(await each(item))) return;
    } catch (error) {
      failures.push(error);
    }
  }

  for (const lane of lanes) {
    while (running.size > 0 && running.size >= width()) await Promise.race(running);
    if (failures.length > 0 || isOver()) break;
    const ended = run(lane).finally(() => running.delete(ended));
    running.add(ended);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0] as Error;
}
