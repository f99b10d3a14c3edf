import { addressBucket } from '../access/addresses';
import { AppError } from '../errors';
import type { Principal } from '../access/principal';

/*
 * Memory that bodies take, over all connections: what has come of each, and what was parsed from it, until its request
 * is done (docs/decisions/bodies-and-fairness.md).
 */

/** Most of the whole that one key, and one organisation with all its keys, may hold. */
const SHARES = { caller: 1 / 4, organisation: 1 / 2 };

const REFUSALS = {
  all: 'Too much is being sent at the moment.',
  caller: 'Too much is being sent by this caller at once.',
  organisation: 'Too much is being sent by this organisation at once.',
} as const;

/** Whose body it is: an exchange. */
interface Sender {
  readonly address: string;
  readonly log: { readonly principal?: Principal };
}

export interface BodyMemory {
  /**
   * Notes how many bytes a request holds from now on.
   * @throws AppError unavailable, when that is too many; what was noted before stays
   */
  hold(exchange: Sender, bytes: number): void;
  /** Notes that a request holds nothing any more. */
  release(exchange: Sender): void;
  /** Bytes held now. */
  readonly held: () => number;
}

/** Those that a request's bytes count for, the whole aside. */
interface Owner {
  readonly kind: keyof typeof SHARES;
  readonly name: string;
}

interface Holding {
  bytes: number;
  readonly owners: readonly Owner[];
}

/** Keeps count of bodies within a limit in bytes; `onRefused` is told of each refusal. */
export function createBodyMemory(limit: number, onRefused: () => void): BodyMemory {
  const holdings = new Map<Sender, Holding>();
  const byOwner = new Map<string, number>();
  let total = 0;

  /** Whose part would become too large; who holds nothing else is let in, whatever the size. */
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
    hold(exchange, bytes) {
      const holding = holdings.get(exchange) ?? { bytes: 0, owners: ownersOf(exchange) };
      const more = bytes - holding.bytes;
      const full = more > 0 ? fullFor(holding, more) : undefined;
      if (full) {
        onRefused();
        throw new AppError('unavailable', REFUSALS[full]);
      }
      holdings.set(exchange, holding);
      add(holding, more);
    },
    release(exchange) {
      const holding = holdings.get(exchange);
      if (!holding) return;
      holdings.delete(exchange);
      add(holding, -holding.bytes);
    },
    held: () => total,
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
