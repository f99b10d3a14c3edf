import { counted, listed } from '../terminal';
import { type Check, type DoctorContext, examine, Finding } from './check';

/** Whether every organisation is on a plan of the configuration. */
export function checkPlans({ store: { control }, config }: DoctorContext): Promise<Check> {
  const { plans, organisations } = control;
  return examine('plans', 'look at the control database', async () => {
    const names = plans.all.map(({ name }) => name);
    const others = [...(await organisations.countOnOtherPlans(names))];
    const source = config.PLANS_FILE === undefined ? 'without PLANS_FILE there are' : 'PLANS_FILE has';
    if (others.length === 0) return `${source} ${listed(names)}`;
    const [[first]] = others as [[string, number]];
    throw new Finding(
      `${source} ${listed(names)}, but ${listed(others.map(([name, count]) => `${counted(count, 'organisation')} on ${name}`))}, whose keys get 403 plan_required`,
      `set PLANS_FILE to a file with it for every gateway and command, or list them with scopegate org list --plan ${first}, and give each another with scopegate org set-plan ID PLAN`,
    );
  });
}
