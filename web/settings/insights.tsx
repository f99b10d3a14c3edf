import { type JSX, render } from 'preact';
import { type Answer, callParts, Failure, type Parts, settings } from './api';
import { Columns, type Things } from './columns';
import { FigureCard, number, type Rank, Ranking } from './figures';
import { Reading } from './list';
import { bucketsOf, INSIGHT_PERIODS, type InsightPeriod, spanOf } from './months';
import { Button, Empty, Filter, Heading, KeepsFocus, Outdated, Problem, Segments } from './parts';
import { choose, chosen, isShown, type PageOf, placeOf } from './route';
import './insights.css';

/* Insights: the organisation's orders and quotes as pictures, one currency at a time. */

/** How often figures are read again, in milliseconds. */
const EVERY = 60_000;
/** More currencies than this are in a list. */
const MOST_SEGMENTS = 4;
/** Cancelled orders are counted by status alone. */
const SOLD = settings.orderStatuses.filter((status) => status !== 'cancelled');
const USUAL: InsightPeriod = 'last_12_months';

const ORDERS: Things = ['order', 'orders'];
const QUOTES: Things = ['quote', 'quotes'];

interface Insights {
  readonly period: InsightPeriod;
  /** The one that is shown. */
  readonly currency: string;
  /** Those that there are, the one with the most orders first. */
  readonly currencies: readonly string[];
  readonly figures: Figures;
}

type Whole = Answer<'figures'>;
type Figures = Parts<Whole>;

export function insightsPage(): PageOf {
  const place = placeOf('insights');
  /** What is shown unless the address has another period: all, if there is nothing in the usual one. */
  let usual: InsightPeriod = USUAL;
  /** Kept, since the answer may arrive when the address is that of another page. */
  let wanted: Wanted = { period: undefined, currency: settings.currency };
  const insights = new Reading<Insights>(async () => {
    const { period, currency } = wanted;
    const found = await readInsights(period ?? usual, currency);
    if (!isEmpty(found) || period !== undefined || usual === 'all') return found;
    usual = 'all';
    return readInsights('all', currency);
  }, draw);

  const load = async (): Promise<void> => {
    if (settings.whyNoInsights !== undefined) return;
    wanted = wantedInAddress();
    await insights.load();
  };
  const change = (choice: Readonly<Record<string, string>>): void => {
    choose(choice);
    void load();
  };

  function draw(): void {
    const { value, isBusy } = insights;
    const { period = usual, currency } = wanted;
    const isCurrent = value?.period === period && (value.currency === currency || !value.currencies.includes(currency));
    render(
      <KeepsFocus>
        <Heading id="insights-title" title="Insights">
          {settings.whyNoInsights === undefined && (
            <>
              <Currencies of={value} wanted={currency} change={change} />
              <Segments
                name="insights-period"
                label="Period of the figures"
                of={period}
                options={INSIGHT_PERIODS}
                change={(to) => change({ period: to })}
              />
            </>
          )}
        </Heading>
        <Problem failure={insights.failure} again={() => insights.again()} />
        {settings.whyNoInsights !== undefined && <Empty icon="chart-column">{settings.whyNoInsights}</Empty>}
        {!value && isBusy && <p class="card figure pending">Reading figures…</p>}
        {value && (
          <Outdated is={!isCurrent} isBusy={isBusy}>
            {isEmpty(value) ? (
              <Nothing period={value.period} change={change} />
            ) : (
              <Pictures of={value} again={() => insights.again()} />
            )}
          </Outdated>
        )}
      </KeepsFocus>,
      place,
    );
  }

  const readAgain = (): void => {
    if (!document.hidden && isShown('insights')) void load();
  };
  setInterval(readAgain, EVERY);
  document.addEventListener('visibilitychange', readAgain);
  draw();
  return { open: load, refresh: load };
}

/** What the address asks for; undefined for the usual period. */
interface Wanted {
  readonly period: InsightPeriod | undefined;
  readonly currency: string;
}

function wantedInAddress(): Wanted {
  const currency = chosen('currency') ?? '';
  return {
    period: INSIGHT_PERIODS.find(([period]) => period === chosen('period'))?.[0],
    currency: /^[A-Z]{3}$/.test(currency) ? currency : settings.currency,
  };
}

/** The figures of a period; in another currency if there are none in this one. */
async function readInsights(period: InsightPeriod, wanted: string): Promise<Insights> {
  const readIn = (currency: string): Promise<Figures> =>
    callParts('figures', { currency, sold: SOLD, ...spanOf(period) });
  const figures = await readIn(wanted);
  const currencies = currenciesIn(figures, wanted);
  const [first] = currencies;
  if (first === undefined || currencies.includes(wanted)) return { period, currency: wanted, currencies, figures };
  return { period, currency: first, currencies, figures: await readIn(first) };
}

/** Whether there is nothing to show. What could not be read may not be empty. */
function isEmpty({ currencies, figures: { read } }: Insights): boolean {
  return currencies.length === 0 && read.orders !== undefined && read.quotes !== undefined;
}

/** If one of both could not be read, the wanted currency may be there. */
function currenciesIn({ read: { orders, quotes } }: Figures, wanted: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const { currency } of quotes?.data ?? []) counts.set(currency, 0);
  for (const { currency, count } of orders?.data ?? []) counts.set(currency, (counts.get(currency) ?? 0) + count);
  if (!orders || !quotes) counts.set(wanted, counts.get(wanted) ?? 0);
  return [...counts].sort(([, left], [, right]) => right - left).map(([currency]) => currency);
}

type Change = (choice: Readonly<Record<string, string>>) => void;

interface CurrenciesProps {
  readonly of: Insights | undefined;
  /** The chosen currency, which may have no figures in the period. */
  readonly wanted: string;
  readonly change: Change;
}

function Currencies({ of: insights, wanted, change }: CurrenciesProps): JSX.Element | null {
  const { currencies = [], currency: shown = '' } = insights ?? {};
  if (currencies.length < 2) return null;
  const currency = currencies.includes(wanted) ? wanted : shown;
  const options = currencies.toSorted().map((code) => [code, code] as const);
  const props = { of: currency, options, change: (to: string) => change({ currency: to }) };
  if (currencies.length > MOST_SEGMENTS) return <Filter label="Currency" {...props} />;
  return <Segments name="insights-currency" label="Currency of the figures" {...props} />;
}

function Nothing({ period, change }: { period: InsightPeriod; change: Change }): JSX.Element {
  const isAll = period === 'all';
  return (
    <Empty icon="chart-column">
      <h2>{isAll ? 'No orders yet' : 'No orders or quotes in this period'}</h2>
      <p>
        Your organisation’s orders and quotes are shown here as pictures as soon as there are any. How programs read
        them is in the <a href="/api/v1/docs">reference</a>.
      </p>
      {!isAll && <Button does={() => change({ period: 'all' })}>Show all</Button>}
    </Empty>
  );
}

interface PicturesProps {
  readonly of: Insights;
  readonly again: () => unknown;
}

function Pictures({ of: { period, currency, figures }, again }: PicturesProps): JSX.Element {
  const { read, failures } = figures;
  const isCut = [read.orders, read.order_months, read.quotes, read.quote_months].some((figure) => figure?.has_more);
  /** The card of a figure, or of why it could not be read. */
  const card = <Name extends keyof Whole>(
    name: Name,
    id: string,
    title: string,
    draw: (rows: Whole[Name]['data']) => JSX.Element,
  ): JSX.Element => {
    const { [name]: figure } = read;
    if (figure) return draw(figure.data);
    return (
      <FigureCard id={id} title={title}>
        <Problem failure={inWords(failures[name], period)} again={again} />
      </FigureCard>
    );
  };
  return (
    <>
      {isCut && <p class="info warning">Only the first 1,000 groups are counted. Choose a shorter period.</p>}
      {card('order_months', 'order-months', 'Orders by month', (rows) => (
        <Columns id="order-months" of={bucketsOf(rows, period)} currency={currency} things={ORDERS} />
      ))}
      <div class="halves">
        {card('orders', 'order-statuses', 'Orders by status', (rows) => (
          <Ranking
            id="order-statuses"
            title="Orders by status"
            currency={currency}
            columns={['Status', 'Orders', 'Total']}
            of={byStatus(rows, currency, settings.orderStatuses)}
            none="No orders in this period."
          />
        ))}
        {card('quotes', 'quote-statuses', 'Quotes by status', (rows) => (
          <Ranking
            id="quote-statuses"
            title="Quotes by status"
            currency={currency}
            columns={['Status', 'Quotes', 'Total']}
            of={byStatus(rows, currency, settings.quoteStatuses)}
            none="No quotes in this period."
          />
        ))}
      </div>
      {card('quote_months', 'quote-months', 'Quotes by month', (rows) => (
        <Columns id="quote-months" of={bucketsOf(rows, period)} currency={currency} things={QUOTES} />
      ))}
      <div class="halves">
        {card('customers', 'customers', 'Top customers', (rows) => (
          <Ranking
            id="customers"
            title="Top customers"
            currency={currency}
            columns={['Customer', 'Orders', 'Total']}
            of={rows.map(({ customer_id: id, customer, count, total_minor: minor }) => ({
              key: id ?? '',
              name: customer?.name ?? (id === null ? 'No customer' : `Customer ${id.slice(0, 8)}`),
              count: number(count),
              minor,
              size: minor,
            }))}
            none="No orders in this period."
          />
        ))}
        {card('products', 'products', 'Top products', (rows) => (
          <Ranking
            id="products"
            title="Top products"
            currency={currency}
            columns={['Product', 'Quantity', 'Net']}
            of={rows
              .filter((product) => product.currency === currency)
              .map(({ sku, uom, description, qty, net_minor: minor }) => ({
                key: `${sku} ${uom}`,
                name: description,
                count: `${number(qty)} ${uom}`,
                minor,
                size: minor,
              }))}
            none="No products in this period."
          />
        ))}
      </div>
      <p class="hint">Months are in UTC. Cancelled orders count only under Orders by status.</p>
    </>
  );
}

/** Why a figure could not be read. The API's words for `unavailable` are about lists, which can be searched. */
function inWords(failure: Failure | undefined, period: InsightPeriod): Failure | undefined {
  if (failure?.code !== 'unavailable') return failure;
  const advice = period === 'all' ? 'Try again, or choose a shorter period.' : 'Try again.';
  return new Failure(`The database took too long for this, or did not respond. ${advice}`, { code: failure.code });
}

interface OfStatus {
  readonly currency: string;
  readonly status: string | null;
  readonly count: number;
  readonly total_minor: number;
}

/** In the order of the statuses, so that a row stays in its place. */
function byStatus(rows: readonly OfStatus[], currency: string, statuses: readonly string[]): readonly Rank[] {
  return rows
    .filter((row) => row.currency === currency)
    .map(({ status, ...row }) => ({ ...row, status: status ?? '' }))
    .sort((left, right) => statuses.indexOf(left.status) - statuses.indexOf(right.status))
    .map(({ status, count, total_minor: minor }) => ({
      key: status,
      name: `${status.charAt(0).toUpperCase()}${status.slice(1).replaceAll('_', ' ')}`,
      count: number(count),
      minor,
      size: count,
    }));
}
