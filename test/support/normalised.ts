/** Runs something, and returns the lengths of the texts that it normalises. */
export async function normalisedIn(work: () => unknown): Promise<number[]> {
  const spy = jest.spyOn(String.prototype, 'normalize');
  try {
    await work();
    return spy.mock.contexts.map(({ length }) => length);
  } finally {
    spy.mockRestore();
  }
}
