import { type Answer, call, type Failure, failureOf, reason } from './api';
import { ask, type Question } from './ask';
import type { Calls } from './calls';
import { failureNotice, type Link, Notice } from './notices';

/* Dialogs that create a key. After a lost answer the same request is repeated with the same Idempotency-Key, so that no key is created unseen. */

type Operation = 'make' | 'rotate';

/** 256 random bits in base64url. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

interface Making<Name extends Operation> extends Pick<Question, 'title' | 'button' | 'Body' | 'changed'> {
  readonly operation: Name;
  readonly variables: (given: FormData) => Calls[Name]['variables'];
  /** The key's name. */
  readonly name: (given: FormData) => string;
  /** Texts while it runs, and after a lost answer, when the input can no longer be changed. */
  readonly says: (name: string) => { readonly doing: string; readonly doubt: string };
  readonly made: (made: Answer<Name>) => void;
}

/** Asks for a key and creates it at most once; if the dialog is closed meanwhile, a notice shows the outcome. */
export function askOnce<Name extends Operation>(making: Making<Name>): void {
  const { operation, variables, name, says, made, ...question } = making;
  const idempotencyKey = randomKey();
  /** The request whose outcome is unknown. */
  let asked: Calls[Name]['variables'] | undefined;
  let called = '';
  const doubt = (): string => says(called).doubt;

  async function run(wanted: Calls[Name]['variables']): Promise<() => void> {
    try {
      const result = await call(operation, wanted, idempotencyKey);
      asked = undefined;
      return () => made(result);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.isUnsure) asked = wanted;
      // a repeated request would be just as invalid
      else if (failure.code === 'validation_failed') asked = undefined;
      nameElements(failure, wanted);
      throw failure;
    }
  }

  ask({
    ...question,
    asks: true,
    isFrozen: () => asked !== undefined,
    doing(given) {
      called = asked ? called : name(given);
      return says(called).doing;
    },
    doubt: () => asked && `${doubt()} If you try again you get the same key, and no second one is made.`,
    work: async (given) => run(asked ?? variables(given)),
    late: (failure, notice) => (asked ? tryAgain(notice) : failureNotice(failure, notice)),
    closed() {
      if (asked) tryAgain(new Notice({ text: doubt() })).focus();
    },
  });

  /** Says in a notice that a key may have been created, and offers to retry. */
  function tryAgain(notice: Notice): Notice {
    const again = async (): Promise<void> => {
      const wanted = asked;
      if (!wanted) return;
      try {
        const showMade = await run(wanted);
        notice.remove();
        showMade();
      } catch (error) {
        const failure = failureOf(error);
        if (asked) show(`${reason(failure)} ${doubt()}`, failure.link);
        else failureNotice(failure, notice);
      }
    };
    const show = (text: string, link?: Link): void =>
      notice.set({ text, link, isAlert: true, asks: true, button: { text: 'Try again', does: again } });
    show(`${doubt()} Try again to see it; otherwise look for it in the list, and revoke it there.`);
    return notice;
  }
}

/** Adds the offending value to each fault of a list element. */
export function nameElements({ faults }: Failure, variables: object): void {
  for (const fault of faults) {
    const [, list = '', at] = fault.pointer.split('/');
    const value = at === undefined ? undefined : (variables as Record<string, string[]>)[list]?.[Number(at)];
    if (value !== undefined) fault.detail = `“${value}” ${fault.detail}`;
  }
}
