import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { List, Page } from './list';
import { Button, Empty, KeepsFocus, Problem } from './parts';

/* Tables, and lists that are read page by page. */

/** A cell labelled with its column, for narrow screens, where rows are shown as cards. */
export function Cell(props: { label: string; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <td data-label={props.label} class={props.class}>
      <div>{props.children}</div>
    </td>
  );
}

export function Head({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <th scope="row" data-label={label}>
      <div>{children}</div>
    </th>
  );
}

/** A table's column names; those of buttons and checkboxes are for screen readers only. */
export function HeadRow({ columns }: { columns: readonly string[] }): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th scope="col" key={name}>
            {name === 'Actions' || name === 'Select' ? <span class="unseen">{name}</span> : name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface TableProps {
  readonly of: Pick<List<Page>, 'value' | 'rows' | 'cursor' | 'isBusy' | 'failure' | 'again' | 'more'>;
  readonly class: string;
  /** Id of the heading. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Shown instead of an empty list: what there would be, or how to find it. */
  readonly none: ComponentChildren;
  /** Label of the button that reads more. */
  readonly more?: string;
  readonly children: ComponentChildren;
}

/** A list in each of its states: loading, failed, empty, or with rows and a button for more. */
export function Table({ of: list, columns, ...props }: TableProps): JSX.Element {
  const place = useRef<HTMLTableSectionElement>(null);
  const isEmpty = list.value !== undefined && list.rows.length === 0;
  const isComing = list.value === undefined && list.isBusy;
  const more = async (): Promise<void> => {
    const before = list.rows.length;
    await list.more();
    if (list.rows.length > before) focusRow(place.current?.querySelectorAll('tr:has(> th)')[before]);
  };
  return (
    <>
      <Problem failure={list.failure} again={list.again} />
      <KeepsFocus class="card" isHidden={!isComing && list.rows.length === 0}>
        <table class={`rows ${props.class}`} aria-labelledby={props.name} aria-busy={list.isBusy}>
          <HeadRow columns={columns} />
          <tbody ref={place}>
            {isComing ? SKELETON.map((at) => <SkeletonRow key={at} width={columns.length} />) : props.children}
          </tbody>
        </table>
      </KeepsFocus>
      {isEmpty && <Empty>{props.none}</Empty>}
      {list.cursor !== null && (
        <Button class="more" does={more} isBusy={list.isBusy}>
          {props.more}
        </Button>
      )}
    </>
  );
}

const SKELETON = [0, 1, 2, 3, 4];

function SkeletonRow({ width }: { width: number }): JSX.Element {
  return (
    <tr class="skeleton" aria-hidden="true">
      {Array.from({ length: width }, (_, at) => (
        <td key={at}>
          <span />
        </td>
      ))}
    </tr>
  );
}

/** The button that read more may be gone, so the focus moves to the first new row, or to the first link or button in it. */
function focusRow(row: Element | undefined): void {
  const control = row?.querySelector<HTMLElement>('a[href], button');
  if (!control) row?.setAttribute('tabindex', '-1');
  (control ?? (row as HTMLElement | undefined))?.focus();
}
