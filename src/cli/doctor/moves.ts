import { databaseName } from '../../database/organisationData';
import { isAbandoned, type Moves } from '../../organisations/moving';
import type { Store } from '../common/open';
import { type Check, examine, Finding } from './check';

/** Names to list; the rest are counted. */
const LISTED = 20;

/** Organisations that are being moved, and the copies that moves have left. */
export async function movesOf({ control }: Store): Promise<Moves[]> {
  const found: Moves[] = [];
  for await (const one of control.moving.each()) found.push(one);
  return found;
}

/** Whether a database is known from a move. */
export function isOfMove(moves: readonly Moves[]): (id: string, cluster: string) => boolean {
  const known = new Set(
    moves.flatMap(({ organisation: { id }, move, copies }) =>
      [...copies.map(({ cluster }) => cluster), ...(move ? [move.to] : [])].map((cluster) => `${cluster} ${id}`),
    ),
  );
  return (id, cluster) => known.has(`${cluster} ${id}`);
}

/** Names moves whose process has ended, since writes are refused until someone continues, and what moves have left. */
export function checkMoves({ databases }: Store, moves: readonly Moves[]): Promise<Check> {
  return examine('moves', 'look at the control database', () => {
    const now = databases.now();
    const under = moves.flatMap(({ organisation, move }) => (move ? [{ organisation, move }] : []));
    const [stuck] = under.filter(({ move }) => isAbandoned(move, now));
    if (stuck) {
      const {
        organisation: { id, name },
        move,
      } = stuck;
      const count = under.filter((one) => isAbandoned(one.move, now)).length;
      const others = count > 1 ? `, and ${String(count - 1)} more` : '';
      throw new Finding(
        `the process that moved ${name} (${id}) to cluster ${move.to} has ended, last seen ${move.seen_at.toISOString()}; until the move ends the organisation's writes are refused${others}`,
        `to continue, run scopegate org move ${id} --to ${move.to}; to undo it, scopegate org move ${id} --undo`,
      );
    }
    const copies = moves.flatMap(({ organisation: { id }, copies: left }) =>
      left.map(({ cluster, left_at }) => `${databaseName(id)} on cluster ${cluster} since ${left_at.toISOString()}`),
    );
    const listed =
      copies.slice(0, LISTED).join(', ') +
      (copies.length > LISTED ? ` and ${String(copies.length - LISTED)} more` : '');
    const said = [
      ...(under.length > 0 ? [`${String(under.length)} under way`] : []),
      ...(copies.length > 0 ? [`old copies, which scopegate org drop-copy deletes: ${listed}`] : []),
    ];
    return said.length > 0 ? said.join('; ') : 'none under way, and no old copies';
  });
}
