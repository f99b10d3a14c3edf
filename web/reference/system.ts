/* What our plugins use of Swagger UI, which has no types of its own. */

interface Immutable {
  get(name: string): unknown;
  toJS(): unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: { readonly default?: unknown };
}

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> };
}

type PathMethod = readonly [path: string, method: string];

export interface System {
  readonly React: {
    readonly createElement: (type: unknown, props: object | null, ...children: readonly unknown[]) => unknown;
    readonly useEffect: (effect: () => () => void, dependencies: readonly unknown[]) => void;
    readonly useRef: <T>(initial: T) => { current: T };
    readonly Fragment: unknown;
  };
  readonly specActions: {
    validateParams(operation: PathMethod): void;
    execute(request: { operation: Immutable; path: string; method: string }): Promise<unknown>;
  };
  readonly specSelectors: {
    parameterValues(operation: PathMethod): Immutable;
    validateBeforeExecute(operation: PathMethod): boolean;
    responseFor(path: string, method: string): Immutable | undefined;
  };
  readonly oas3Selectors: { requestBodyValue(path: string, method: string): string | undefined };
  readonly getStore: () => { subscribe(listener: () => void): () => void };
}

/** The operation that a column is for. */
export interface Place {
  readonly system: System;
  readonly operation: Immutable;
  readonly path: string;
  readonly method: string;
}
