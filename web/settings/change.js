import { Failure, failureOf } from './api';
import { ask } from './modal';

/* Dialogs that change a key. Somebody else may change it too, and an answer may be lost: then what is shown is read again. */

/**
 * Opens a dialog as ask does, with its options, for `work(data)`. `doubt()` says what is not known after an answer was lost, or as long as `isUnsure(failure)`.
 * `changed` is called after failures that may mean that the key is not as it is shown, and once more when the dialog is closed after such a one.
 */
export function askChange(dialog, { work, changed, doubt, isUnsure = (failure) => failure.isUnsure, closed, ...rest }) {
  let isStale = false;
  const attempt = async (data) => {
    try {
      return await work(data);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.isUnsure || isEnded(failure)) {
        isStale = true;
        changed();
      }
      throw isUnsure(failure) ? doubtful(failure, doubt()) : failure;
    }
  };
  return ask(dialog, attempt, {
    ...rest,
    isOver: isEnded,
    closed(isRunning) {
      if (isStale && !isRunning) changed();
      closed?.(isRunning);
    },
  });
}

/** Whether a change was refused since the key is revoked, expired or replaced, or does not exist: trying again has the same outcome. */
function isEnded({ code, faults }) {
  return code === 'not_found' || faults.some(({ pointer }) => pointer === '/id');
}

function doubtful(failure, doubt) {
  const { code, link } = failure;
  return new Failure(`${reason(failure)} ${doubt}`, { code, link });
}

/** What a failure says, without its advice. */
export function reason({ message }) {
  return message.replace(/ Try again\.$/, '');
}
