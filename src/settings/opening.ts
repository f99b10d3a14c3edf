import { type OperationDefinitionNode, parse } from 'graphql';
import type { CallContext } from '../operations/context';
import type { Execute } from '../operations/execution';
import { DOCUMENTS, firstCalls } from './documents';

/* The opening of a page: the answers to its first calls, sent with it, which saves a round trip on a slow connection. */

/**
 * Resolves with the answers to the first calls of the page at an address, `/settings/…` without `sandbox`, by the names of their documents.
 * For an address with a query these are only the calls of every page. The page itself makes the others, and those that failed.
 */
export type OpeningAnswers = (address: string, context: CallContext) => Promise<object>;

export function openingAnswers(execute: Execute, now: () => number): OpeningAnswers {
  const documents = Object.entries(DOCUMENTS).map(([name, text]) => [name, parse(text)] as const);
  return async (address, contextValue) => {
    const pages: Readonly<Record<string, object>> = firstCalls(now());
    const calls: Readonly<Record<string, object>> = { ...pages.webhooks, ...pages[address.replace('/settings/', '')] };
    const calledDocuments = documents.filter(([name]) => name in calls);
    const answers = calledDocuments.map(async ([name, document]) => {
      const [operation] = document.definitions as unknown as [OperationDefinitionNode];
      const { data, errors } = await execute({ document, operation, contextValue, variableValues: { ...calls[name] } });
      return errors ? [] : [[name, data?.value] as const];
    });
    return Object.fromEntries((await Promise.all(answers)).flat());
  };
}
