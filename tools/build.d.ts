/** Transpiles src into a folder of the project. */
export function bundle(folder: string, entry?: string): Promise<void>;
