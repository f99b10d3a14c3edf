/** Transpiles src into a folder of the project. */
export function transpile(folder: string): Promise<void>;
