import type { OrganisationData } from '../../database/organisationData';
import { CommandFailure } from '../common/failure';

/** Attempts to drop a database that requests in progress could still create again. */
const DROPS = 20;

/** Drops an organisation's database until the server no longer lists it. `check` throws if that is no longer allowed. */
export async function dropUntilGone(data: OrganisationData, check?: () => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= DROPS; attempt += 1) {
    await check?.();
    await data.drop();
    if (!(await data.exists())) return;
  }
  throw new CommandFailure('the database of the organisation is created again and again; stop what writes to it');
}
