import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { PAGES, read } from '../docs/markdown';

/* What the four packages, the chart and the manifests say of themselves; .ci/packages installs them. */

interface Manifest {
  readonly version: string;
  readonly files: readonly string[];
  readonly repository: { readonly url: string; readonly directory?: string };
  readonly homepage: string;
  readonly bugs: { readonly url: string };
  readonly publishConfig: object;
  readonly [member: string]: unknown;
}
const manifest = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json'))) as Manifest;
const root = manifest('');
const clients = ['clients/typescript', 'clients/sync'].map(manifest);
const python = read('clients/python/pyproject.toml');

test('have one version', () => {
  const { version } = root;
  for (const client of clients) expect(client.version).toBe(version);
  expect(python).toContain(`\nversion = "${version}"\n`);
  const { images } = parse(read('deploy/kubernetes/kustomization.yaml')) as { images: { newTag: string }[] };
  expect(images.map(({ newTag }) => newTag)).toEqual([version]);
  expect(read('deploy/kubernetes/job.example.yaml')).toContain(`scopegate:${version}\n`);
  expect((JSON.parse(read('openapi.json')) as { info: object }).info).toMatchObject({ version });
  expect(read('CHANGELOG.md')).toMatch(
    new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm'),
  );
  expect(read('SECURITY.md')).toContain(`| ${version.split('.').slice(0, 2).join('.')} | yes |`);
});

test('name one repository, and can be published only with a provenance', () => {
  const address = root.repository.url.replace(/^git\+(.*)\.git$/, '$1');
  for (const each of [root, ...clients]) {
    expect(each.repository.url).toBe(root.repository.url);
    expect([each.homepage, each.bugs.url]).toEqual([expect.stringContaining(address), `${address}/issues`]);
    expect(each.publishConfig).toEqual({ access: 'public', provenance: true });
    expect(each).not.toHaveProperty('private');
  }
  expect(clients.map(({ repository }) => repository.directory)).toEqual(['clients/typescript', 'clients/sync']);
  expect(python).toContain(`Repository = "${address}"`);
});

test('the package carries its dependencies, and none of them needs overrides, which are those of whoever installs it', () => {
  expect(root.bundleDependencies).toBe(true);
  expect(root).not.toHaveProperty('overrides');
});

const isPacked = (path: string): boolean =>
  [...root.files, 'LICENSE', 'README.md', 'package.json'].some((packed) =>
    new RegExp(`^${packed.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}(/|$)`).test(path),
  );
/** Where the relative links of a page lead. */
const targetsOf = (page: string): string[] =>
  [...read(page).matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)/g)].map(([, link]) => join(dirname(page), link!));

test('what the README and the guide for operators link to is in the package, but the Dockerfile', () => {
  const links = ['README.md', 'docs/guides/operators.md', 'docs/upgrading.md', 'SECURITY.md'].flatMap(targetsOf);
  expect(links.length).toBeGreaterThan(60);
  expect([...new Set(links.filter((link) => !isPacked(link)))]).toEqual(['Dockerfile']);
  for (const page of PAGES) expect([page, isPacked(page)]).toEqual([page, true]);
});

test('the READMEs of the clients, which are shown alone, have absolute links', () => {
  for (const client of ['typescript', 'sync', 'python']) expect(targetsOf(`clients/${client}/README.md`)).toEqual([]);
});
