import { eventually } from './eventually';
import { raw } from './raw';

/** Waits until a gateway is ready: the database has 1.5 s to respond, and the test file before may have left it busy. */
export async function untilReady({ url }: { readonly url: string }): Promise<void> {
  await eventually(async () => (await raw(url, '/readyz', {})).status === 200);
}
