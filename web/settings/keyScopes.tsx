import { Fragment, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { settings } from './api';
import { useFault } from './ask';
import { presetsOf } from './keyPresets';
import { HeadRow } from './table';

/* What a key may do: presets by use, and scopes by resource. Both follow from the schema, which a folder of one's own extends. */

const ACTIONS = ['read', 'write'] as const;
const OFFERED = Object.entries(settings.scopes).flatMap(([resource, can]) =>
  ACTIONS.filter((action) => can[action] !== undefined).map((action) => `${resource}:${action}`),
);

export const isOffered = (scope: string): boolean => OFFERED.includes(scope);
/** Scopes that a key has although the page does not offer them: reserved ones, and those of resources that are gone. */
export const othersOf = (scopes: readonly string[]): readonly string[] => scopes.filter((scope) => !isOffered(scope));

const PRESETS = presetsOf(OFFERED);

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((scope) => right.includes(scope));
}

interface ScopesProps {
  readonly chosen: readonly string[];
  readonly choose: (scopes: readonly string[]) => void;
  /** Scopes that the key has and the page does not offer; they can be removed. */
  readonly others: readonly string[];
}

export function Scopes({ chosen, choose, others }: ScopesProps): JSX.Element {
  const { place, described } = useFault('scopes');
  // chosen before its scopes are
  const [isCustom, setCustom] = useState(false);
  const preset = isCustom ? undefined : PRESETS.find(({ scopes }) => isSame(scopes, chosen));
  const toggle = (scope: string): void =>
    choose(chosen.includes(scope) ? chosen.filter((name) => name !== scope) : [...chosen, scope]);
  const box = (scope: string, label: string): JSX.Element => (
    <input
      type="checkbox"
      name="scope"
      value={scope}
      aria-label={label}
      checked={chosen.includes(scope)}
      onChange={() => toggle(scope)}
    />
  );
  return (
    <fieldset class="box scopes" data-field="scopes" {...described}>
      <legend>Scopes</legend>
      <div class="presets">
        {PRESETS.map(({ name, about, scopes }) => (
          <PresetCard
            key={name}
            name={name}
            about={about}
            isChosen={name === preset?.name}
            choose={() => {
              setCustom(false);
              choose(scopes);
            }}
          />
        ))}
        <PresetCard
          name="Custom"
          about="Any scopes, chosen below."
          isChosen={preset === undefined}
          choose={() => setCustom(true)}
        />
      </div>
      {place}
      <table class="matrix" aria-label="Scopes by resource">
        <HeadRow columns={['Resource', 'Read', 'Write']} />
        <tbody>
          {Object.entries(settings.scopes).map(([resource, can]) => (
            <Fragment key={resource}>
              <tr>
                <th scope="row">{resource}</th>
                {ACTIONS.map((action) => {
                  const scope = `${resource}:${action}`;
                  return (
                    <td key={action} title={can[action] ?? 'The API has no such operations.'}>
                      {can[action] === undefined ? '–' : box(scope, `${scope}: ${can[action]}`)}
                    </td>
                  );
                })}
              </tr>
              <tr class="about">
                <td colSpan={3}>{Object.values(can).join(' ')}</td>
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
      {others.map((scope) => (
        <label key={scope}>
          {box(scope, `${scope}: no operation uses it`)} <span>{scope}: no operation uses it</span>
        </label>
      ))}
    </fieldset>
  );
}

interface PresetCardProps {
  readonly name: string;
  readonly about: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

function PresetCard({ name, about, isChosen, choose }: PresetCardProps): JSX.Element {
  return (
    <label class="preset">
      <input type="radio" name="preset" checked={isChosen} onChange={choose} />
      <span>
        <strong>{name}</strong>
        <span class="hint">{about}</span>
      </span>
    </label>
  );
}

/** The scopes after a change, and what it adds and removes. */
export function ScopeChanges({ from, to }: { from: readonly string[]; to: readonly string[] }): JSX.Element {
  const removed = from.filter((scope) => !to.includes(scope));
  if (to.length + removed.length === 0) return <>nothing yet: choose scopes</>;
  return (
    <ul class="chips">
      {to.map((scope) => {
        const isNew = !from.includes(scope);
        return (
          <li key={scope} class={isNew ? 'added' : undefined}>
            {isNew && '+ '}
            {scope}
          </li>
        );
      })}
      {removed.map((scope) => (
        <li key={scope} class="removed">
          − {scope}
        </li>
      ))}
    </ul>
  );
}
