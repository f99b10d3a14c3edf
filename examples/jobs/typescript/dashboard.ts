/* Prints the totals of orders by month, again whenever orders change: npx tsx dashboard.ts */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAmount, Scopegate } from '@scopegate/client';

const TOTALS = `{
  order_totals(group_by: [MONTH]) { data { month currency count total_minor } }
}`;
interface Totals {
  readonly order_totals: { readonly data: { month: string; currency: string; count: number; total_minor: number }[] };
}
const types = ['order.created', 'order.updated', 'order.status_changed', 'order.deleted', 'feed.gap'] as const;

const api = new Scopegate();
let isStale = true;

/** Notes that totals are out of date. They are not read here, since an import makes thousands of events. */
async function follow(after: string): Promise<never> {
  for await (const _event of api.events({ after, types: [...types] })) isStale = true;
  throw new Error('the stream has ended');
}

async function show(): Promise<never> {
  for (; ; await sleep(1000)) {
    if (!isStale) continue;
    // before it is read: what changes from now on needs another look
    isStale = false;
    const { order_totals } = await api.graphql<Totals>(TOTALS);
    for (const { month, currency, count, total_minor } of order_totals.data)
      console.log(
        `${month} ${count} orders, ${currency} ${formatAmount(total_minor, currency).replaceAll(/[^\d.,-]/g, '')}`,
      );
    console.log();
  }
}

// where the feed ends, noted before the first totals are read
const { next_cursor } = await api.get('/events', { query: { after: 'now' } });
await Promise.race([follow(next_cursor), show()]);
