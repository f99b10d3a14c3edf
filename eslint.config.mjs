import tseslint from 'typescript-eslint';

/*
 * The arrows of ARCHITECTURE.md: what each folder or file at the root of src may import of the others. Whoever is not named
 * here imports what it likes (main, server, gateway); nobody imports what is not in its line, types included.
 */
const ARROWS = {
  errors: [],
  version: [],
  units: [],
  within: [],
  access: ['errors', 'within'],
  config: ['access'],
  log: ['access', 'config'],
  tracing: ['config'],
  database: ['config', 'errors', 'units', 'within'],
  mask: ['database', 'errors'],
  organisations: ['access', 'config', 'database', 'errors', 'units'],
  context: ['access', 'database', 'errors', 'organisations', 'tracing'],
  metrics: ['access', 'database', 'within'],
  http: ['access', 'config', 'context', 'database', 'errors', 'log', 'metrics', 'schema', 'tracing', 'units'],
  schema: ['access', 'context', 'errors', 'units'],
  resources: ['context', 'database', 'errors', 'schema'],
  events: ['access', 'context', 'database', 'errors', 'log', 'organisations', 'schema', 'units'],
  webhooks: [
    'access',
    'config',
    'context',
    'database',
    'errors',
    'events',
    'log',
    'organisations',
    'schema',
    'units',
    'version',
    'within',
  ],
  rest: ['access', 'context', 'errors', 'http', 'schema'],
  graphql: ['access', 'config', 'context', 'errors', 'http', 'log', 'mask', 'schema'],
  mcp: ['context', 'errors', 'http', 'mask', 'schema', 'units', 'version'],
  pages: ['errors', 'http', 'units', 'version'],
  settings: [
    'access',
    'config',
    'context',
    'database',
    'errors',
    'http',
    'mask',
    'organisations',
    'pages',
    'schema',
    'units',
  ],
  recording: ['access', 'http', 'log', 'metrics', 'organisations', 'within'],
  faces: ['graphql', 'http', 'mcp', 'metrics', 'rest', 'settings'],
  limits: ['access', 'config', 'log', 'metrics'],
  published: ['events', 'resources', 'rest', 'schema', 'settings', 'webhooks'],
};
const ROOMS = [...Object.keys(ARROWS), 'cli', 'gateway', 'main', 'server'];

const arrows = Object.entries(ARROWS).flatMap(([room, allowed]) => {
  const forbidden = ROOMS.filter((other) => other !== room && !allowed.includes(other));
  const message = `src/${room} may import ${allowed.join(', ') || 'nothing'} of the rooms of src (ARCHITECTURE.md).`;
  const rules = (start) => ({
    '@typescript-eslint/no-restricted-imports': [
      'error',
      { patterns: [{ regex: `^${start}(${forbidden.join('|')})(\\.js|/|$)`, message }] },
    ],
  });
  return [
    { files: [`src/${room}.ts`], rules: rules('\\./') },
    { files: [`src/${room}/**`], rules: rules('(\\.\\./)+') },
  ];
});

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
  ...arrows,
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
