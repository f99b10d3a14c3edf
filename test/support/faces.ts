import type { Answer, Client, Json } from './client';
import { type Face, operations, withObjects } from './operations';

export { FACES, type Face, GRAPHQL, REST } from './operations';

/*
 * Calls operations by name in either API, so that one test covers both: the same arguments give the same data or the same
 * problem.
 */

export type Arguments = Record<string, unknown>;

/** An error as both APIs return it. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly errors?: Json;
}

export type Outcome = { readonly answer: Answer } & (
  { readonly data: Json; readonly problem?: undefined } | { readonly data?: undefined; readonly problem: Problem }
);

/** Calls an operation and returns its data or problem. */
export async function call(face: Face, caller: Client, name: string, args: Arguments = {}): Promise<Outcome> {
  const operation = operations.find((candidate) => candidate.name === name);
  if (!operation) throw new Error(`unknown operation ${name}`);
  const answer = await face.call(caller, operation, args);
  const error = face.errorOf(answer);
  if (error === undefined) return { answer, data: face.valueOf(answer, operation) };
  const { status, code, errors } = error;
  return { answer, problem: { status, code, ...(errors && { errors }) } };
}

/** The data of a call that must succeed. */
export async function ask(face: Face, caller: Client, name: string, args?: Arguments): Promise<Json> {
  const { data, problem } = await call(face, caller, name, args);
  if (problem) throw new Error(`${face.name} ${name}(${brief(args)}) failed: ${JSON.stringify(problem)}`);
  return data;
}

/** The problem of a call that must fail. */
export async function refusal(face: Face, caller: Client, name: string, args?: Arguments): Promise<Problem> {
  const { data, problem } = await call(face, caller, name, args);
  if (!problem) throw new Error(`${face.name} ${name}(${brief(args)}) succeeded: ${brief(data)}`);
  return problem;
}

/** All pages of a list, following `next_cursor`. */
export async function askPages(face: Face, caller: Client, name: string, args: Arguments = {}): Promise<Json[]> {
  const pages = [await ask(face, caller, name, args)];
  for (let cursor = pages[0].next_cursor; cursor !== null; cursor = pages.at(-1).next_cursor) {
    pages.push(await ask(face, caller, name, { ...args, cursor }));
  }
  return pages;
}

/** The rows of all pages of a list. */
export async function askAll(face: Face, caller: Client, name: string, args: Arguments = {}): Promise<Json[]> {
  return (await askPages(face, caller, name, { limit: 100, ...args })).flatMap((page) => page.data);
}

/** The data of a GraphQL document that must succeed. */
export async function query(caller: Client, document: string, variables?: Arguments): Promise<Json> {
  const { body } = await caller.graphql(document, variables);
  if (body.errors) throw new Error(`${document}: ${JSON.stringify(body.errors)}`);
  return withObjects(body.data);
}

function brief(value: unknown): string {
  return JSON.stringify(value ?? {}).slice(0, 200);
}
