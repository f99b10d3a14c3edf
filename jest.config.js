const FULL = require('./test/full');

const swc = ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, sourceMaps: 'inline' }];

const SHARED = {
  rootDir: __dirname,
  transform: { '^.+\\.ts$': swc },
  // what is imported when it is needed is named as Node finds it
  moduleNameMapper: { '^(\\.{1,2}/.+)\\.js$': '$1' },
  testEnvironment: '<rootDir>/test/support/environment.js',
  runtime: '<rootDir>/test/support/runtime.js',
};

/** With a real database: one for each worker. */
const WITH_DATABASE = {
  ...SHARED,
  globalSetup: '<rootDir>/test/support/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
};

const inRoot = (path) => `<rootDir>/${path}`;
const LONG = FULL.map(inRoot);

/** Suites that follow from the schema. They run once more on the folder that `scopegate schema init` writes. */
const GENERATED = [
  'attacks/injection',
  'attacks/injectionWrites',
  'attacks/matrix',
  'contract/faces',
  'contract/openApiExamples',
  'contract/scopes',
  'contract/tenancy',
  'mcp/tools',
  'operator/events',
  'operator/writeAgreement',
  'resources/elements',
  'resources/events',
  'resources/files',
  'resources/filters',
  'resources/include',
  'resources/indexes',
  'resources/pagination',
  'resources/reading',
  'resources/relations',
  'resources/search',
  'resources/upserts',
  'resources/validators',
].map((name) => inRoot(`test/${name}.test.ts`));

/** What a test needs; its path says which of these runs it, but for the list in test/full.js. CONTRIBUTING.md has the table. */
const projects = [
  { ...SHARED, displayName: 'unit', testMatch: [inRoot('test/unit/**/*.test.ts')] },
  {
    ...WITH_DATABASE,
    displayName: 'api',
    testMatch: [inRoot('test/**/*.test.ts')],
    testPathIgnorePatterns: [inRoot('test/unit/'), String.raw`\.(system|browser)\.test\.ts$`, ...LONG],
  },
  {
    ...WITH_DATABASE,
    displayName: 'system',
    testMatch: [inRoot('test/**/*.system.test.ts')],
    testPathIgnorePatterns: LONG,
  },
  {
    ...WITH_DATABASE,
    displayName: 'browser',
    testMatch: [inRoot('test/**/*.browser.test.ts')],
    testPathIgnorePatterns: LONG,
  },
  { ...WITH_DATABASE, displayName: 'full', testMatch: LONG },
  {
    ...WITH_DATABASE,
    displayName: 'own schema',
    setupFiles: [inRoot('test/support/ownSchema.ts')],
    testMatch: GENERATED,
  },
];

module.exports = {
  projects,
  testTimeout: 60_000,
  // also on two cores: a test waits for the database and for other processes a third of its time (13 % less than with two)
  maxWorkers: 3,
};
