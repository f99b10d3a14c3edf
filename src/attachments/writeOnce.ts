import type { DataContext } from '../operations/context';
import type { AttachmentAnswer } from '../stored/attachments';

/**
 * Runs a write, or replays the first answer to its Idempotency-Key, which the transaction of the write stores. `args` is all that the write depends
 * on, with a file as its digest. @throws AppError idempotency_key_reused if the key came with other `args` before
 */
export async function writeOnce(
  context: DataContext,
  operation: string,
  args: object,
  run: (writing: Pick<DataContext, 'data' | 'write' | 'noteInvalid' | 'principal'>) => Promise<AttachmentAnswer>,
): Promise<AttachmentAnswer> {
  const { data, noteInvalid, principal } = context;
  const answer = await context.once(operation, args, (write = context.write) =>
    run({ data, write, noteInvalid, principal }),
  );
  return answer as AttachmentAnswer;
}
