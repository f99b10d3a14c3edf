import { counted, listed } from '../terminal';
import { type Check, type DoctorContext, examine, Finding } from './check';

/** Whether every organisation is on a plan of the configuration; undefined if all are and there is no PLANS_FILE. */
export async function checkPlans({ store: { control }, config }: DoctorContext): Promise<Check | undefined> {
  const names = control.plans.all.map(({ name }) => name);
  const check = await examine('plans', 'start the database, or grant its user what the error names', async () => {
    const has = `${config.PLANS_FILE ? 'PLANS_FILE has' : 'without PLANS_FILE there are'} ${listed(names)}`;
    const others = await control.organisations.countOnOtherPlans(names);
    const [first] = others;
    if (!first) return has;
    const counts = listed(others.map(({ _id, count }) => `${counted(count, 'organisation')} on ${_id}`));
    throw new Finding(
      `${has}, and not the plans of ${counts}: their keys get 403 plan_required`,
      `set PLANS_FILE, for every gateway and command, to a file that has them; or find these organisations with scopegate org list --plan ${first._id}, and give each another plan with scopegate org set-plan`,
    );
  });
  return check.ok && !config.PLANS_FILE ? undefined : check;
}
