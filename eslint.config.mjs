import tseslint from 'typescript-eslint';

/*
 * The arrows of ARCHITECTURE.md: main → cli → server → rest | graphql → schema → resources → database. A folder may not
 * import what stands before it; types of the context are let through, since resolvers know only its type.
 */
function arrow(files, forbidden, message) {
  return {
    files,
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex: `^\\.{1,2}/(.*/)?(${forbidden.join('|')})(/|$)`, message }] },
      ],
    },
  };
}

export default tseslint.config(
  { ignores: ['dist', 'dist-test', 'node_modules', '.data', '.cache', 'coverage', 'public', 'examples'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      // takes two copies of one class's type for different classes (ajv, mongoose)
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'config.ts is the only reader of the environment.' },
      ],
    },
  },
  arrow(
    ['src/resources/**'],
    ['rest', 'graphql', 'access', 'server', 'cli', 'pages', 'http', 'organisations', 'settings'],
    'A resource knows the context by its type, its service and the database; not the faces, keys or the server.',
  ),
  arrow(['src/rest/**'], ['graphql', 'cli', 'server', 'pages', 'settings'], 'The faces never meet.'),
  arrow(['src/graphql/**'], ['rest', 'cli', 'server', 'pages', 'settings'], 'The faces never meet.'),
  arrow(
    ['src/settings/**'],
    ['rest', 'graphql', 'cli', 'server', 'resources'],
    'Settings reach data through organisations, and GraphQL through the gateway.',
  ),
  arrow(
    ['src/database/**'],
    ['resources', 'rest', 'graphql', 'access', 'server', 'cli', 'context', 'schema'],
    'The database is below everything.',
  ),
  arrow(
    ['src/access/**'],
    ['resources', 'rest', 'graphql', 'server', 'cli'],
    'Access knows keys and organisations only.',
  ),
  arrow(
    ['src/errors.ts', 'src/money.ts'],
    ['access', 'database', 'resources', 'rest', 'graphql', 'http', 'cli'],
    'Imported by everything, imports nothing above it.',
  ),
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
