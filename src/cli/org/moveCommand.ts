import { moveOrganisation } from '../../jobs/moveOrganisation';
import { interrupted, interruption, isAbort } from '../ending';
import type { JsonOption } from '../help';
import { note, printResult } from '../terminal';
import { withStore } from '../withStore';

interface MoveOptions extends JsonOption {
  readonly to: string;
}

/** What moveOrganisation does, by the name of its step. */
const STEPS = {
  waiting: 'waiting for requests under way and for the events of the last changes',
  moving: 'MongoDB moves the database',
};

/** What an interrupted move leaves, by the step that it was at. */
const LEFT = {
  waiting: 'the organisation stays where it was, unless a run that was killed had begun to move it',
  moving: 'MongoDB goes on with a move that it has begun, and a gateway ends it',
};

/** `scopegate org move`. */
export async function moveCommand(id: string, { to, json }: MoveOptions): Promise<void> {
  const signal = interruption();
  const moved = await withStore(async (store) => {
    let begun: keyof typeof STEPS = 'waiting';
    const onStep = (step: keyof typeof STEPS): void => {
      begun = step;
      note(STEPS[step]);
    };
    return moveOrganisation(store, { id, to, signal, onStep }).catch((error: unknown) => {
      if (!isAbort(error)) throw error;
      throw interrupted(LEFT[begun]);
    });
  }, signal);
  const refused = `Its requests were refused for ${(moved.refused / 1000).toFixed(1)} s.`;
  printResult(
    json,
    { id, from: moved.from, to, refused_ms: Math.round(moved.refused) },
    `Organisation ${id} is on shard ${to} now. ${refused}`,
  );
}
