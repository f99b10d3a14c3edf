/** A resource of the server, to check the SDL against. */
export interface CheckedResource {
  /** Name of its collection, and of the root field that lists it. */
  readonly name: string;
  readonly indexes: readonly { readonly on: object; readonly options?: { readonly unique?: unknown } }[];
}

/** The sentences about gaps whose condition holds. */
export function sentences(...found: readonly unknown[]): string[] {
  return found.filter((one) => typeof one === 'string');
}
