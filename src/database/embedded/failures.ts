/** No database can be started; the message is complete and meant for the user. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** A server cannot be used, or did not start; the message says why, and the next one is tried. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** The result; undefined if it fails with this code of the system or of MongoDB. */
export async function unless<T>(code: string | number, result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === code) return undefined;
    throw error;
  }
}
