import { stampedWrite } from '../../tenant/openWrites';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Writer } from '../../tenant/slots';
import { normalised } from '../../schema/callerKeys';
import { changedAt, writeRows } from '../../stored/rows';
import { type Customer, customers } from './customers';

export const customerById = (data: OrganisationData, id: string): Promise<Customer | null> =>
  data.collection(customers).findOne({ _id: id.toLowerCase() });

export const customerByRef = (data: OrganisationData, ref: string): Promise<Customer | null> =>
  data.collection(customers).findOne({ external_ref: normalised(ref) });

/**
 * Lets an erased customer be written again; its members stay erased until they are sent. Has no effect on one that is not erased. Does not complete an
 * interrupted erasure before, which would also erase what orders and threads got since.
 */
export function readmitCustomer(data: OrganisationData, { _id }: Pick<Customer, '_id'>, by: Writer): Promise<void> {
  const rows = data.collection(customers);
  return stampedWrite(
    data,
    async (session, now) => {
      const before = await rows.findOne({ _id }, { session });
      if (!before?.erased_at) return;
      const { erased_at: _erased, ...others } = before;
      const row = { ...others, updated_at: changedAt(before.updated_at, now) };
      await writeRows(rows, [{ row, before }], { ordered: true, session });
    },
    { writes: [customers], by },
  );
}
