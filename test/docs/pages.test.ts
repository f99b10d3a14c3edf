import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isScalarType, isSpecifiedScalarType, parse, validate } from 'graphql';
import { mcpConfiguration } from '../../src/pages/samples';
import { GENERATED, generated } from '../../tools/environment';
import { graphqlSchema } from '../support/operations';
import { blocksOf, DOCUMENTED, PAGES, pagesIn, PRODUCT, read, RECEIVERS, ROOT, WALKED } from './markdown';

const BLOCKS = PAGES.flatMap(blocksOf);

test.each(BLOCKS.map((block) => ({ ...block, where: `${block.page}:${String(block.line)}` })))(
  'the $language block at $where is well-formed',
  ({ page, language, text, before }) => {
    switch (language) {
      case 'sh':
        expect(spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
        break;
      case 'json':
        expect(() => JSON.parse(text) as unknown).not.toThrow();
        break;
      case 'graphql':
        if (!before.startsWith('`')) expect(validate(graphqlSchema, parse(text))).toEqual([]);
        break;
      // what the commands before it print, which operators.test.ts, receivers.test.ts and product.system.test.ts compare
      case 'text':
        expect([WALKED, RECEIVERS, PRODUCT]).toContain(page);
        break;
      // a part of a program that test/packages/examples runs, which the line before names, or of a file of examples/schema, which ownSchema.test.ts compares
      case 'js': {
        const [, file] = /^As in .*\]\((.+)\):$/.exec(before.trim()) ?? [];
        if (file === undefined) expect(page).toBe('docs/guides/schema.md');
        else expect(read(join(dirname(page), file))).toContain(text);
        break;
      }
      // of another program, which no test starts
      case 'nginx':
        expect(text.split('{')).toHaveLength(text.split('}').length);
        break;
      // a part of a program's result, which jobs.test.ts compares
      case 'csv':
        expect(page).toBe('docs/guides/jobs/orders.md');
        break;
      // files and changes of the contributors' guide, which contributing.test.ts builds
      case 'ts':
      case 'diff':
        expect(before).toMatch(/^(In )?`[\w/.-]+`:|^```/);
        break;
      default:
        throw new Error(`no test for code blocks in this language: ${language}`);
    }
  },
);

test('the guide for assistants has the configuration that the settings page writes for a new key', () => {
  const text = mcpConfiguration('https://api.example.com', '${SCOPEGATE_KEY}');
  expect(BLOCKS).toContainEqual(expect.objectContaining({ page: 'docs/guides/assistants.md', text }));
});

test('the guide for integrators maps every scalar of the schema to a type, without which strictScalars refuses to generate any', () => {
  // Value is of directives alone, which the served text lacks
  const own = Object.values(graphqlSchema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type) && type.name !== 'Value',
  );
  const config = BLOCKS.find(
    ({ page, text }) => page === 'docs/guides/integrators.md' && text.includes('strictScalars'),
  );
  const [, mapped = ''] = /scalars: \{([^}]*)\}/.exec(config?.text ?? '') ?? [];
  expect([...mapped.matchAll(/(\w+):/g)].map(([, name]) => name).sort()).toEqual(own.map(({ name }) => name).sort());
});

test.each(GENERATED)('%s: the generated part %s is up to date (npm run docs)', (...part) => {
  expect(generated(...part)).toBe(read(part[0]));
});

const LINKS = pagesIn(...DOCUMENTED).flatMap((page) =>
  [...read(page).matchAll(/\]\((?!https?:|\/)([^)#\s]*)(#[^)]*)?\)/g)].map(([, file = '', anchor = '']) => ({
    page,
    link: file + anchor,
    target: file === '' ? page : join(dirname(page), file),
    anchor,
  })),
);

test.each(LINKS)('$page: the target of $link exists', ({ target, anchor }) => {
  expect(existsSync(join(ROOT, target))).toBe(true);
  if (anchor !== '') expect(anchorsOf(target)).toContain(anchor);
});

/** A heading's anchor has its words in lower case, without punctuation. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `#${heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  );
}
