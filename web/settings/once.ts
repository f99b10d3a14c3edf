import { type Answer, call, type Failure, failureOf, reason } from './api';
import { ask, type Question } from './ask';
import type { Calls } from './calls';
import { failureNotice, type Link, Notice } from './notices';

/* Dialogs that make a key: if an answer is lost, the same is asked for again with the same Idempotency-Key, so that no key is made that nobody has seen. */

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
  /** What the key is called. */
  readonly name: (given: FormData) => string;
  /** What goes on, and what is not known while an answer is missing: what was entered cannot be changed then. */
  readonly says: (name: string) => { readonly doing: string; readonly doubt: string };
  readonly made: (made: Answer<Name>) => void;
}

/** Asks for what makes a key, at most once; if the dialog is closed meanwhile, a notice says what becomes of it. */
export function askOnce<Name extends Operation>(making: Making<Name>): void {
  const { operation, variables, name, says, made, ...question } = making;
  const idempotencyKey = randomKey();
  /** What was asked for, if it is not known whether that was done. */
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
      // invalid every time
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

  /** Says in a notice that a key may have been made, and tries again. */
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

/** Says with each fault of a list's element which one it is about. */
export function nameElements({ faults }: Failure, variables: object): void {
  for (const fault of faults) {
    const [, list = '', at] = fault.pointer.split('/');
    const value = at === undefined ? undefined : (variables as Record<string, string[]>)[list]?.[Number(at)];
    if (value !== undefined) fault.detail = `“${value}” ${fault.detail}`;
  }
}
