import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { z } from 'zod';

/** The JSON value in a file; undefined if it is missing, incomplete or of another shape. */
export async function readRecord<T>(file: string, shape: z.ZodType<T>): Promise<T | undefined> {
  try {
    return shape.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

export function writeRecord(file: string, record: unknown): Promise<void> {
  return writeAtomically(file, `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Writes a draft and renames it: readers, even after a crash, get the old text or the new one, and the file's old mode is dropped. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Awaits a result; undefined if it fails with this error code, of the system or of MongoDB. */
export async function unless<T>(code: string | number, result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === code) return undefined;
    throw error;
  }
}
