/** Rooms that import nothing of src, and that every other may import. */
const BASE = ['async', 'errors', 'limits', 'package', 'units'];

/*
 * The arrows of ARCHITECTURE.md: what else each folder or file at the root of src may import of the others. Whoever is not named here (main,
 * cli, gateway) imports what it likes; nobody imports what is not in its line, types included. Each line names lines above it only, so no two
 * rooms need each other.
 */
const ARROWS = {
  ...Object.fromEntries(BASE.map((room) => [room, []])),
  sdl: [],
  auth: ['sdl'],
  config: ['auth'],
  embedded: ['config'],
  log: ['auth', 'config'],
  tracing: ['config'],
  mongo: ['config'],
  tenant: ['mongo'],
  organisations: ['auth', 'config', 'mongo', 'tenant'],
  admission: ['auth', 'mongo'],
  metrics: ['admission', 'auth', 'mongo'],
  schema: ['auth', 'sdl'],
  events: ['log', 'mongo', 'organisations', 'schema', 'tenant'],
  webhooks: ['auth', 'config', 'events', 'log', 'mongo', 'organisations', 'schema', 'tenant'],
  admin: ['auth', 'config', 'events', 'mongo', 'organisations', 'schema', 'tenant', 'webhooks'],
  jobs: ['events', 'log', 'mongo', 'organisations', 'tenant'],
  operations: ['admission', 'auth', 'events', 'schema', 'tenant', 'tracing'],
  fastReads: ['mongo', 'operations', 'tenant'],
  stored: ['fastReads', 'mongo', 'operations', 'schema', 'tenant'],
  writes: ['mongo', 'schema', 'stored', 'tenant'],
  resources: ['auth', 'events', 'mongo', 'operations', 'schema', 'sdl', 'stored', 'tenant'],
  http: ['admission', 'auth', 'log', 'metrics', 'operations', 'schema', 'tracing'],
  attachments: ['http', 'operations', 'schema', 'stored', 'tenant'],
  rest: ['admission', 'auth', 'http', 'operations', 'schema'],
  graphql: ['admission', 'auth', 'config', 'http', 'log', 'mongo', 'operations', 'schema'],
  mcp: ['admission', 'http', 'mongo', 'operations', 'schema'],
  pages: ['http', 'schema'],
  openapi: ['attachments', 'auth', 'http', 'pages', 'resources', 'rest', 'schema', 'sdl', 'writes'],
  reference: ['openapi', 'pages', 'schema'],
  guides: ['openapi', 'pages', 'reference'],
  operator: [
    ...['admin', 'admission', 'auth', 'config', 'events', 'http', 'mongo', 'operations', 'organisations'],
    ...['tenant', 'writes'],
  ],
  oauth: ['admission', 'auth', 'config', 'http', 'organisations', 'schema'],
  settings: [
    ...['admin', 'admission', 'auth', 'config', 'http', 'mongo', 'oauth', 'operations', 'organisations', 'pages'],
    ...['schema', 'tenant'],
  ],
};
const ROOMS = [...Object.keys(ARROWS), 'cli', 'gateway', 'main'];

const arrows = Object.entries(ARROWS).flatMap(([room, allowed], at, lines) => {
  const below = allowed.find((other) => !lines.slice(0, at).some(([name]) => name === other));
  if (below) throw new Error(`src/${room} may import src/${below}, which is not above it`);
  const base = BASE.includes(room) ? [] : BASE;
  const forbidden = ROOMS.filter((other) => other !== room && !allowed.includes(other) && !base.includes(other));
  const message = `src/${room} may import ${[...base, ...allowed].join(', ') || 'nothing'} of the rooms of src (ARCHITECTURE.md).`;
  const rules = (start) => ({
    'no-restricted-imports': [
      'error',
      { patterns: [{ regex: `^${start}(${forbidden.join('|')})(\\.js|/|$)`, message }] },
    ],
  });
  return [
    { files: [`src/${room}.ts`], rules: rules('\\./') },
    { files: [`src/${room}/**`], rules: rules('(\\.\\./)+') },
  ];
});

/** typescript-eslint's strict and stylistic sets, but no-unsafe-enum-assignment, which Oxlint lacks. */
const TYPES = `
  adjacent-overload-signatures array-type await-thenable ban-tslint-comment class-literal-property-style
  consistent-generic-constructors consistent-indexed-object-style consistent-type-assertions
  consistent-type-definitions consistent-type-imports dot-notation no-array-delete no-base-to-string
  no-confusing-non-null-assertion no-confusing-void-expression no-deprecated no-duplicate-enum-values
  no-duplicate-type-constituents no-dynamic-delete no-empty-object-type no-explicit-any no-extra-non-null-assertion
  no-extraneous-class no-floating-promises no-for-in-array no-generated-empty-object-type no-implied-eval
  no-inferrable-types no-invalid-void-type no-meaningless-void-operator no-misused-new no-misused-promises
  no-misused-spread no-mixed-enums no-namespace no-non-null-asserted-nullish-coalescing
  no-non-null-asserted-optional-chain no-non-null-assertion no-redundant-type-constituents no-require-imports
  no-this-alias no-unnecessary-boolean-literal-compare no-unnecessary-condition no-unnecessary-template-expression
  no-unnecessary-type-arguments no-unnecessary-type-assertion no-unnecessary-type-constraint
  no-unnecessary-type-conversion no-unnecessary-type-parameters no-unsafe-argument no-unsafe-assignment
  no-unsafe-call no-unsafe-declaration-merging no-unsafe-enum-comparison no-unsafe-function-type
  no-unsafe-member-access no-unsafe-return no-unsafe-unary-minus no-useless-default-assignment
  no-wrapper-object-types non-nullable-type-assertion-style only-throw-error prefer-as-const prefer-find
  prefer-for-of prefer-function-type prefer-includes prefer-literal-enum-member prefer-namespace-keyword
  prefer-nullish-coalescing prefer-optional-chain prefer-promise-reject-errors prefer-reduce-type-parameter
  prefer-regexp-exec prefer-return-this-type prefer-string-starts-ends-with related-getter-setter-pairs
  require-await triple-slash-reference unbound-method unified-signatures use-unknown-in-catch-callback-variable
`;

const LANGUAGE = `
  no-array-constructor no-console no-empty-function no-unused-expressions no-useless-constructor no-var prefer-const
  prefer-rest-params prefer-spread
`;

const named = (text, prefix = '') =>
  Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((rule) => [prefix + rule, 'error']),
  );
/** No exceptions by default. */
const none = (...options) => Object.fromEntries(options.map((option) => [option, false]));

export default {
  plugins: ['typescript', 'import'],
  options: { typeAware: true, typeCheck: true },
  categories: { correctness: 'off' },
  ignorePatterns: [
    ...['dist', 'dist-test', 'node_modules', '.data', '.cache', 'coverage', 'web/**/*.js', 'examples'],
    ...['clients/typescript/src/openapi.ts', 'web/settings/calls.ts'],
  ],
  overrides: [
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        ...named(LANGUAGE),
        ...named(TYPES, 'typescript/'),
        'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
        'typescript/restrict-plus-operands': [
          'error',
          none('allowAny', 'allowBoolean', 'allowNullish', 'allowNumberAndString', 'allowRegExp'),
        ],
        'typescript/restrict-template-expressions': [
          'error',
          none('allowAny', 'allowBoolean', 'allowNever', 'allowNullish', 'allowNumber', 'allowRegExp'),
        ],
        'import/no-duplicates': 'error',
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
        'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      },
    },
    {
      files: ['src/**/*.ts'],
      rules: {
        'import/no-cycle': ['error', { ignoreTypes: false }],
        'no-restricted-properties': [
          'error',
          { object: 'process', property: 'env', message: 'config.ts is the only reader of the environment.' },
        ],
      },
    },
    {
      // what is imported of scripts has no types
      files: ['web/**/*.ts', 'web/**/*.tsx'],
      rules: {
        ...Object.fromEntries(
          ['assignment', 'member-access', 'argument', 'call', 'return'].map((rule) => [
            `typescript/no-unsafe-${rule}`,
            'off',
          ]),
        ),
        'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        'typescript/restrict-template-expressions': ['error', { allowNumber: true }],
        'no-console': ['error', { allow: ['error'] }],
      },
    },
    { files: ['src/config/index.ts', 'src/sdl/folder.ts'], rules: { 'no-restricted-properties': 'off' } },
    ...arrows,
    {
      files: ['test/**/*.ts'],
      rules: Object.fromEntries(
        [
          'non-null-assertion',
          'unsafe-assignment',
          'unsafe-member-access',
          'unsafe-argument',
          'unsafe-call',
          'unsafe-return',
        ].map((rule) => [`typescript/no-${rule}`, 'off']),
      ),
    },
  ],
};
