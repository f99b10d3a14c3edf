import type { Projection } from '../mongo/collection';
import type { DataContext } from '../operations/context';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { objectName } from '../schema/storedTypes';
import { readOne } from './collection';
import { requireServed } from './invalidRows';
import type { Resource, Row } from './resource';

/** Always the same object, since reads are batched by it. */
const OF_ATTACHMENTS: Projection = { _id: 1, [ATTACHMENTS]: 1 };

/**
 * Reads what an object has attached: every route of attachments begins with it, so that who may not read the object, or write it, finds none.
 * @throws AppError not_found; stored_object_invalid if another program stored attachments of another form
 */
export async function readOwner(
  context: Pick<DataContext, 'data' | 'noteInvalid'>,
  resource: Resource,
  id: string,
): Promise<Row> {
  const row = await readOne(context.data, resource, id, objectName(resource.stored.type), OF_ATTACHMENTS);
  requireServed(context, resource, row, OF_ATTACHMENTS);
  return row;
}
