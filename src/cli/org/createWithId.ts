import type { Config } from '../../config';
import { createIndexes, indexesOf } from '../../mongo/indexes';
import { createChecked } from '../../mongo/validators';
import type { OrganisationForOperators } from '../../organisations/organisationRows';
import type { NewOrganisation } from '../../organisations/organisations';
import type { OrganisationData } from '../../tenant/organisationData';
import { CommandFailure, messageOf } from '../ending';
import type { Store } from '../store';

/**
 * Creates an organisation with the id of one that was erased, or of another installation (docs/decisions/exports.md).
 * @throws IdTakenError; CommandFailure if its database exists, or its indexes could not be created; ShardRefused; RefTakenError
 */
export async function createWithId(
  { control, databases }: Store,
  { STORED_VALIDATION: validation }: Config,
  input: NewOrganisation & { readonly id: string },
): Promise<OrganisationForOperators> {
  const { wasErased } = await control.organisations.requireUnused(input.id);
  const data = databases.organisationData(input);
  if (await data.exists())
    throw new CommandFailure(
      `the database ${data.database.databaseName} exists already: it is that of another installation on this server, or was left behind; if nobody needs it, drop it`,
    );
  const organisation = await control.organisations.create(input);
  if (wasErased)
    await createCollections(data, validation).catch((error: unknown) => {
      throw new CommandFailure(
        `organisation ${input.id} was created without all of its indexes (${messageOf(error)}), which gateways that knew the former one would not add: run scopegate org erase ${input.id} --confirm ${JSON.stringify(input.name)} --no-export, and two minutes later this command again`,
      );
    });
  return organisation;
}

/** Creates every collection with all indexes, which gateways that served the former organisation remember as created. */
async function createCollections(data: OrganisationData, validation: Config['STORED_VALIDATION']): Promise<void> {
  for (const definition of data.collections)
    await data.whileWritable(async () => {
      await createChecked(data.database, definition, validation);
      await createIndexes(data.database, definition, indexesOf(definition));
    });
}
