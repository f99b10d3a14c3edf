import { catalogue } from './catalogue';
import { customers } from './customers';
import { dashboard } from './dashboard';
import { events } from './events';
import { helpdesk } from './helpdesk';
import { orders } from './orders';
import type { Installed } from './programs';
import { jobScene } from './scene';

/** The tests of the programs of the guide's jobs in a language. */
export function jobs(install: () => Promise<Installed>): void {
  const scene = jobScene(install);
  catalogue(scene);
  orders(scene);
  customers(scene);
  helpdesk(scene);
  dashboard(scene);
  events(scene);
}
