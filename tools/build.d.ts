/** Transpiles src into a folder of the project, and bundles the pages. */
export function bundle(folder: string, entry?: string): Promise<void>;
