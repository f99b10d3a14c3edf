import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FILE_LIMIT } from '../../src/attachments/upload';
import { describeVariables, readConfig } from '../../src/config';
import { CANDIDATES } from '../../src/embedded/candidates';
import { MEBIBYTE } from '../../src/units';
import { read, ROOT } from '../docs/markdown';
import type { Json } from '../support/client';

const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Json> };

// the tests run without a container engine, so they only check the parsed file
describe('docker-compose.yml', () => {
  test('starts the gateway when its dependencies are healthy', () => {
    const needed = compose.services.gateway.depends_on as Record<string, Json>;
    for (const [name, { condition }] of Object.entries(needed)) {
      expect(condition).toBe('service_healthy');
      expect(compose.services[name].healthcheck.test[0]).toBe('CMD');
    }
    expect(Object.keys(needed).sort()).toEqual(['mongo', 'valkey']);
  });

  test('sets only variables that the gateway reads', () => {
    const known = describeVariables().map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(Object.keys(compose.services.gateway.environment as object)));
  });
});

test('every service of docker-compose.yml has limits of memory and of its log, and ports of this machine only', () => {
  for (const { mem_limit: memory, logging, ports = [], profiles, restart } of Object.values(compose.services)) {
    expect(memory).toMatch(/^\d+[mg]$/);
    expect(logging).toMatchObject({ options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } });
    // the proxy is what other machines shall reach
    for (const port of profiles ? [] : ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(restart).toBe('unless-stopped');
  }
});

test('TLS in front is a profile: a proxy for which the gateway, without root and files to write, need not be reachable', () => {
  const { gateway, proxy } = compose.services;
  expect(proxy).toMatchObject({ profiles: ['tls'], ports: ['80:80', '443:443'] });
  for (const each of [gateway, proxy])
    expect(each).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  expect(gateway.user).toBe('node');
  const [mounted = ''] = proxy.volumes as string[];
  const caddyfile = read(mounted.split(':')[0]!);
  const host = gateway.ports[0].split(':').at(-1) as string;
  expect(caddyfile).toContain(`reverse_proxy gateway:${host} {`);
  expect(caddyfile).toContain('respond @inside 404');
  expect(caddyfile).toContain('{$SCOPEGATE_HOST} {');
  expect(proxy.environment).toEqual({ SCOPEGATE_HOST: '${SCOPEGATE_HOST:-}' });
});

test('the proxies let the largest attachment through', () => {
  const caddy = /max_size (\d+)MB/.exec(read('deploy/compose/Caddyfile'))?.[1];
  expect(Number(caddy) * 1e6).toBeGreaterThan(FILE_LIMIT);
  for (const nginx of ['deploy/kubernetes/ingress.yaml', 'docs/guides/operators.md']) {
    const size = /(?:proxy-body-size:|client_max_body_size) (\d+)m/.exec(read(nginx))?.[1];
    expect(Number(size) * MEBIBYTE).toBeGreaterThan(FILE_LIMIT);
  }
});

test('MongoDB in docker-compose.yml requires a password, which the gateway uses, and may open as many files as are planned', () => {
  const { mongo, gateway } = compose.services;
  expect(mongo.environment.MONGO_INITDB_ROOT_PASSWORD).toMatch(/^\$\{MONGODB_PASSWORD:\?[^}]+README[^}]*\}$/);
  expect(mongo.command).toContain('--keyFile=/data/configdb/key');
  // locks of a killed gateway end by then
  expect(mongo.command).toContain('--setParameter=transactionLifetimeLimitSeconds=15');
  const { MONGO_INITDB_ROOT_USERNAME: user = '' } = mongo.environment!;
  expect(gateway.environment.MONGODB_URI).toContain(`mongodb://${String(user)}:\${MONGODB_PASSWORD}@mongo:`);
  expect(mongo.ulimits.nofile).toBeGreaterThan(readConfig({}).SHARD_FILES);
});

test('no secrets of the folder get into the image', () => {
  expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.env*', '*.env', 'secrets']));
});

test('every image is pinned by digest', () => {
  const images = [
    ...[...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
    ...Object.values(compose.services).flatMap(({ image }) => (image as string | undefined) ?? []),
  ];
  expect(images).toHaveLength(5);
  for (const image of images) expect(image).toMatch(/^[a-z/]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
});

test('the gateway in docker-compose.yml requires a KEY_PEPPER', () => {
  const { KEY_PEPPER } = compose.services.gateway.environment;
  // `:?` rejects a missing or empty value
  expect(KEY_PEPPER).toMatch(/^\$\{KEY_PEPPER:\?[^}]+README[^}]*\}$/);
  expect(read('README.md')).toMatch(
    /^for secret in KEY_PEPPER WEBHOOK_SECRET MONGODB_PASSWORD; do echo "\$secret=\$\(openssl rand -hex 32\)"; done > \.env\ndocker compose up/m,
  );
});

test('SecantusDB and its dependencies are pinned by hash', () => {
  const pinned = read('secantusdb-requirements.txt')
    .trimEnd()
    .split(/\n(?! )/);
  expect(pinned.map((one) => one.split('==')[0])).toEqual(
    expect.arrayContaining(['secantusdb', 'pymongo', 'numpy', 'shapely']),
  );
  for (const one of pinned)
    expect(one).toMatch(/^[a-z0-9-]+==\S+( ; python_full_version [^\\]+)?( \\\n {4}--hash=sha256:[0-9a-f]{64})+$/);
  expect(CANDIDATES.at(-1)!.title).toContain(/secantusdb==(\S+)/.exec(read('secantusdb-requirements.txt'))![1]);
});

test('everything the Dockerfile copies from the context exists', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths!.split(' '),
  );
  expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('the unit for systemd starts with scopegate.env of the guide for operators, whose paths are for commands', () => {
  const [, guide = ''] = read('docs/guides/operators.md').split('cat > scopegate.env <<END\n');
  const settings = guide.split('\nEND\n')[0]!.replaceAll(/^# (?=[A-Z_]+=)/gm, '');
  const files = [...settings.matchAll(/^([A-Z_]+_FILE)=secrets\/(.+)$/gm)];
  expect(files).toHaveLength(5);
  // Redis is a comment in both
  const unit = read('deploy/systemd/scopegate.service').replaceAll(/^#(?= {4}REDIS|LoadCredential)/gm, '');
  const lines = unit.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  const [, set = ''] = /^ExecStart=\/usr\/bin\/env (.*) node /m.exec(lines)!;
  // what env sets counts before EnvironmentFile, which counts before Environment
  expect(set.split(/ +/).sort()).toEqual(files.map(([, name = '', file = '']) => `${name}=%d/${file}`).sort());
  for (const [, , file = ''] of files)
    expect(lines).toContain(`LoadCredential=${file}:/etc/scopegate/secrets/${file}\n`);
  expect(lines).toMatch(/^EnvironmentFile=\/etc\/scopegate\/scopegate\.env$/m);
});
