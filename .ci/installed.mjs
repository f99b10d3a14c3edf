// node .ci/installed.mjs CHECKOUT PACKAGE: the packages within an installed Scopegate are those of package-lock.json, each at its place and
// in its version, and no others.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [checkout, installed] = process.argv.slice(2);
const json = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));

function* packagesIn(folder) {
  const modules = join(folder, 'node_modules');
  if (!existsSync(join(installed, modules))) return;
  for (const name of readdirSync(join(installed, modules)).filter((one) => !one.startsWith('.')))
    for (const one of name.startsWith('@')
      ? readdirSync(join(installed, modules, name)).map((part) => join(name, part))
      : [name]) {
      yield join(modules, one);
      yield* packagesIn(join(modules, one));
    }
}

const locked = Object.entries(json(checkout, 'package-lock.json').packages).filter(([place, { dev }]) => place && !dev);
const expected = locked.map(([place, { version }]) => `${place} ${version}`).sort();
const found = [...packagesIn('')].map((place) => `${place} ${json(installed, place, 'package.json').version}`).sort();
const differ = [...expected.filter((one) => !found.includes(one)), ...found.filter((one) => !expected.includes(one))];
if (differ.length > 0) throw new Error(`differs from package-lock.json:\n${differ.join('\n')}`);
console.log(`${found.length} packages are installed, each in the version of package-lock.json`);
