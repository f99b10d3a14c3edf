import type { ComponentChildren, JSX } from 'preact';
import { formatAmount } from '../../clients/typescript/src/money';
import { HeadRow } from './table';

/* Figures of Insights: how they are written, the card of each, and rankings with bars. */

export const amount = (minor: number | bigint, currency: string): string =>
  formatAmount(minor, currency, navigator.language);
export const number = (value: number): string => value.toLocaleString(navigator.language);

interface CardProps {
  readonly id: string;
  readonly title: string;
  /** What there is in all. */
  readonly sum?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function FigureCard({ id, title, sum, children }: CardProps): JSX.Element {
  return (
    <section class="card figure" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {sum !== undefined && <p class="sum">{sum}</p>}
      {children}
    </section>
  );
}

export interface Rank {
  readonly key: string;
  readonly name: string;
  /** How much of it there is: a count or a quantity. */
  readonly count: string;
  readonly minor: number;
  /** What the length of its bar shows. */
  readonly size: number;
}

interface RankingProps {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly [name: string, count: string, total: string];
  readonly of: readonly Rank[];
  readonly currency: string;
  /** Shown if there are none. */
  readonly none: string;
}

/** Names with their counts and amounts, and a bar for each. */
export function Ranking({ id, title, columns, of: ranks, currency, none }: RankingProps): JSX.Element {
  const most = Math.max(1, ...ranks.map(({ size }) => size));
  return (
    <FigureCard id={id} title={title}>
      {ranks.length === 0 ? (
        <p class="hint">{none}</p>
      ) : (
        <div>
          <table class="ranking" aria-labelledby={id}>
            <HeadRow columns={columns} />
            <tbody>
              {ranks.map(({ key, name, count, minor, size }) => (
                <tr key={key}>
                  <th scope="row">
                    {name}
                    <span class="length" style={{ width: `${Math.max(0, size / most) * 100}%` }} />
                  </th>
                  <td>{count}</td>
                  <td>{amount(minor, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </FigureCard>
  );
}
