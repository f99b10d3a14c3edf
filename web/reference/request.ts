import type { SampleRequest } from '../../src/pages/samples';
import { GATEWAY } from '../base';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const controlsOf = (form: HTMLFormElement): readonly Control[] =>
  [...form.elements].filter((one): one is Control => 'name' in one && one.name !== '' && 'value' in one);

/** The request that a form describes, and whether it takes an Idempotency-Key but has none. */
export function requestOf(form: HTMLFormElement): SampleRequest & { readonly lacksIdempotencyKey: boolean } {
  const { method = 'GET', path = '', idempotencyKey } = form.dataset;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filled = path;
  for (const control of controlsOf(form)) {
    const values = valuesOf(control);
    const [value] = values;
    if (value === undefined) continue;
    if (control.dataset.in === 'path') filled = filled.replace(`{${control.name}}`, encodeURIComponent(value));
    if (control.dataset.in === 'header') headers[control.name] = value;
    if (control.dataset.in === 'query') for (const one of values) query.append(control.name, one);
  }
  const body = form.querySelector<HTMLTextAreaElement>('#body')?.value;
  const url = `${GATEWAY}/api/v1${filled}${query.size > 0 ? `?${query.toString()}` : ''}`;
  const lacksIdempotencyKey = idempotencyKey !== undefined && !('Idempotency-Key' in headers);
  return { method, url, headers, body, lacksIdempotencyKey };
}

/** Why a form cannot be sent, and the field to mend. */
export function faultOf(form: HTMLFormElement): { readonly control: Control; readonly words: string } | undefined {
  for (const control of controlsOf(form)) {
    const values = valuesOf(control);
    if (control.required && values.length === 0) return { control, words: `Enter ${control.name} first.` };
    // fetch would throw, as it does if the gateway cannot be reached
    if (control.dataset.in === 'header' && values.some((value) => /[^\x20-\x7e]/.test(value)))
      return { control, words: `${control.name} cannot be sent: headers must be plain ASCII text.` };
  }
  return undefined;
}

/** What a field has; of a list, what each line has. */
function valuesOf(control: Control): readonly string[] {
  if (control.type === 'checkbox') return 'checked' in control && control.checked ? [control.value] : [];
  const lines = control instanceof HTMLTextAreaElement ? control.value.split('\n') : [control.value];
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}
