import { html, type Html } from './html';

/** An HTTP status with the colour of its hundreds. */
export function statusPill(status: number): Html {
  const kind = status < 300 ? 'good' : status < 400 ? '' : status < 500 ? 'warn' : 'bad';
  return html`<b class="pill ${kind}">${status}</b>`;
}
