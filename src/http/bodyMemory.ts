import { addressBucket } from '../access/addresses';
import { AppError } from '../errors';
import type { Principal } from '../access/principal';

/*
 * Counts the memory of all request bodies: the bytes received and the values parsed from them, until the request is done
 * (docs/decisions/bodies-and-fairness.md).
 */

/** Maximum share of the limit for one key (or address), and for one organisation with all its keys. */
const SHARES = { caller: 1 / 4, organisation: 1 / 2 };

const REFUSALS = {
  all: 'Too much data is being sent at the moment.',
  caller: 'This caller is sending too much data at once.',
  organisation: 'This organisation is sending too much data at once.',
} as const;

/** The sender of a body: an exchange. */
interface Sender {
  readonly address: string;
  readonly log: { readonly principal?: Principal };
}

/** An owner with a share that a request's bytes count towards. */
interface Owner {
  readonly kind: keyof typeof SHARES;
  readonly name: string;
}

interface Holding {
  bytes: number;
  readonly owners: readonly Owner[];
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Limits the memory of bodies, in bytes; `onRefused` is called for each refusal. */
export function createBodyMemory(limit: number, onRefused: () => void) {
  const holdings = new Map<Sender, Holding>();
  const byOwner = new Map<string, number>();
  let total = 0;

  /** Whose share would be exceeded; an owner that holds nothing else is always allowed. */
  function fullFor({ bytes, owners }: Holding, more: number): keyof typeof REFUSALS | undefined {
    const isOver = (held: number, most: number): boolean => held + more > most && held > bytes;
    if (isOver(total, limit)) return 'all';
    return owners.find(({ kind, name }) => isOver(byOwner.get(name) ?? 0, limit * SHARES[kind]))?.kind;
  }

  function add(holding: Holding, more: number): void {
    holding.bytes += more;
    total += more;
    for (const { name } of holding.owners) {
      const held = (byOwner.get(name) ?? 0) + more;
      if (held === 0) byOwner.delete(name);
      else byOwner.set(name, held);
    }
  }

  return {
    /**
     * Sets how many bytes a request holds.
     * @throws AppError unavailable if that is too many; the previous value is kept
     */
    hold(exchange: Sender, bytes: number): void {
      const holding = holdings.get(exchange) ?? { bytes: 0, owners: ownersOf(exchange) };
      const more = bytes - holding.bytes;
      const full = more > 0 ? fullFor(holding, more) : undefined;
      if (full) {
        onRefused();
        throw new AppError('unavailable', REFUSALS[full], { reason: 'shed' });
      }
      holdings.set(exchange, holding);
      add(holding, more);
    },
    /** Releases everything that a request holds. */
    release(exchange: Sender): void {
      const holding = holdings.get(exchange);
      if (!holding) return;
      holdings.delete(exchange);
      add(holding, -holding.bytes);
    },
    /** Bytes currently held. */
    held: (): number => total,
  };
}

function ownersOf({ log: { principal }, address }: Sender): Owner[] {
  if (!principal) return [{ kind: 'caller', name: `address ${addressBucket(address)}` }];
  const { organisation } = principal;
  const caller = principal.kind === 'key' ? `key ${principal.key.id}` : `user ${organisation.id} ${principal.user.id}`;
  return [
    { kind: 'caller', name: caller },
    { kind: 'organisation', name: `organisation ${organisation.id}` },
  ];
}
