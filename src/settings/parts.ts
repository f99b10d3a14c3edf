import { html, type Html } from '../pages/html';

/* Parts of the settings page that its sections share. */

/** The head of a table. */
export function columns(...names: readonly (string | Html)[]): Html {
  return html`<thead>
    <tr>
      ${names.map((name) => html`<th scope="col">${name}</th>`)}
    </tr>
  </thead>`;
}

/** A dialog with a title, whose main button the page's script handles; `<name>` is its id without `-dialog`. */
export function dialog(name: string, title: string, body: Html, button: Html): Html {
  return html`<dialog id="${name}-dialog" aria-labelledby="${name}-title">
    <form method="dialog" novalidate>
      <h2 id="${name}-title">${title}</h2>
      ${body}
      <div class="foot">
        <p class="alert" role="alert" data-failure hidden></p>
        <p class="hint" role="status" data-slow></p>
        <p class="buttons">
          <button class="button" type="submit" value="cancel">Cancel</button>
          ${button}
        </p>
      </div>
    </form>
  </dialog>`;
}

/** Where a dialog says what is wrong with an argument; its field is described by `<dialog>-<argument>-fault`. */
export function faultPlace(dialogName: string, argument: string): Html {
  return html`<p class="fault" id="${dialogName}-${argument}-fault" data-fault="${argument}" hidden></p>`;
}

/** A text input of a dialog; `attributes` are more of its own. The fault is that of `argument`. */
export function field(
  of: string,
  name: string,
  label: string,
  attributes: Html,
  { hint, argument = name }: { readonly hint?: string; readonly argument?: string } = {},
): Html {
  const hintId = `${of}-${name}-hint`;
  return html`<div class="field">
    <label for="${of}-${name}">${label}</label>
    <input
      id="${of}-${name}"
      name="${name}"
      autocomplete="off"
      ${attributes}
      aria-describedby="${hint === undefined ? '' : `${hintId} `}${of}-${argument}-fault"
    />
    ${faultPlace(of, argument)} ${hint === undefined ? undefined : html`<p class="hint" id="${hintId}">${hint}</p>`}
  </div>`;
}

/** A dialog with a secret that is shown once, which only its button closes. */
export function secretDialog(name: string, title: string, body: Html): Html {
  return html`<dialog id="${name}-dialog" aria-labelledby="${name}-title" closedby="none" data-kept>
    <form method="dialog">
      <h2 id="${name}-title">${title}</h2>
      ${body}
      <div class="foot">
        <p class="alert" role="alert" data-copy-failure hidden></p>
        <p class="buttons"><button class="button" type="submit">I have saved it</button></p>
      </div>
    </form>
  </dialog>`;
}

/** A text with a button that copies it; `name` tells assistive technology what it is, `slot` the script where it is. */
export function copyable(name: string, slot: Html, kind: 'button' | 'button primary' = 'button'): Html {
  return html`<div class="command">
    <pre tabindex="0" aria-label="${name}">${slot}</pre>
    <button class="${kind}" type="button" data-copy>Copy</button>
  </div>`;
}
