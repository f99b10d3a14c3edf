import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { copied, installSync } from '../clients/packages';
import { eventually } from '../../api/http/eventually';
import { SECRET } from '../../admin/operator/operator';
import type { Json } from '../../support/client';
import type { TestGateway } from '../../support/gateway';
import { launch } from './run';

/* The example product: its processes, and calls as its own pages make them. */

export async function installProduct(bare: mongo.MongoClient, gateway: TestGateway) {
  const folder = await copied('examples', 'product');
  await installSync(folder);
  const database = bare.db(`scopegate_product_${randomUUID().slice(0, 8)}`);
  const uri = new URL(process.env.TEST_MONGODB_URI!);
  uri.pathname = `/${database.databaseName}`;
  const apps: ReturnType<typeof launch>[] = [];
  const env = { MONGODB_URI: uri.href, SCOPEGATE_URL: gateway.url, OPERATOR_SECRET: SECRET, PORT: '0' };

  return {
    database,
    /** Where its packages are installed. */
    folder,
    /** What all of its processes said. */
    said: (): string => apps.map((app) => app.said()).join(''),
    async start() {
      const app = launch(process.execPath, [join(folder, 'app.mjs')], { cwd: folder, env });
      apps.push(app);
      const [, port = ''] = await eventually(() => {
        if (app.hasEnded()) throw new Error(app.said());
        return /listening on (\d+)/.exec(app.stdout());
      }, 120_000);
      return { ...app, url: `http://127.0.0.1:${port}` };
    },
    async remove(): Promise<void> {
      for (const app of apps) await app.kill();
      await rm(folder, { recursive: true });
      await database.dropDatabase();
    },
  };
}

/** A call that is made again while the product is not there. */
export async function call(url: () => string, method: string, path: string, body?: Json): Promise<Json> {
  for (let attempt = 1; ; attempt += 1) {
    const options = {
      method: method.toUpperCase(),
      headers: { 'content-type': 'application/json' },
      redirect: 'manual',
    } as const;
    const answer = await fetch(url() + path, { ...options, ...(body && { body: JSON.stringify(body) }) }).catch(
      () => undefined,
    );
    if (answer?.status === 302) return answer.headers.get('location');
    if (answer?.ok) return answer.json();
    if (answer || attempt === 1000) throw new Error(`${method} ${path}: ${(await answer?.text()) ?? 'no answer'}`);
    await sleep(100);
  }
}
