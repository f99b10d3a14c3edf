import { LRUCache } from 'lru-cache';
import { openWrites, type Writer } from '../../tenant/slots';
import { type Change, END, type LoggedChange } from './changes';

/*
 * Who made a change: each write of a gateway or of the command line ends its row of open_writes as the first change of its transaction, and so
 * names itself in the log before what it wrote (docs/decisions/origin.md).
 */

/** Whether a change is the row of a write, and not a change of data. */
export function isOpenWriteChange({ operationType, ns }: Change): boolean {
  return operationType !== END && ns.coll === openWrites.name;
}

/** Transactions whose writer is remembered: a batch can separate a transaction from its row, and the log has few others in between. */
const REMEMBERED = 1000;

/**
 * Who wrote, by transaction. A transaction may be in several batches, and SecantusDB gives each of its changes a cluster time of its own.
 */
export function createTransactionWriters() {
  const writers = new LRUCache<string, Writer>({ max: REMEMBERED });
  return {
    note(change: Change): void {
      const transaction = transactionOf(change);
      if (transaction !== undefined && change.by !== undefined) writers.set(transaction, change.by);
    },
    /** The changes of a batch, with who made them. */
    named: (changes: readonly Omit<LoggedChange, 'by'>[]): LoggedChange[] =>
      changes.map((logged) => ({ ...logged, by: writers.get(transactionOf(logged.change) ?? '') })),
  };
}

/** By session and number, since changes of different transactions can have one cluster time; undefined outside of transactions. */
function transactionOf({ ns, lsid, txnNumber }: Change): string | undefined {
  return lsid && txnNumber !== undefined ? `${ns.db} ${lsid.id.toString('base64')} ${String(txnNumber)}` : undefined;
}
