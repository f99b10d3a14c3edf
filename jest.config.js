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

/** Suites that follow from the schema. They run once more on the folder that `scopegate schema init` writes. */
const GENERATED = [
  'security/attacks/injection.slow',
  'security/attacks/injectionWrites.slow',
  'security/attacks/matrix',
  'security/attacks/restricted',
  'api/faces',
  'api/openApiExamples',
  'security/scopes',
  'security/tenancy',
  'api/mcp/tools',
  'admin/operator/events',
  'admin/operator/writeAgreement',
  'api/resources/elements',
  'api/resources/events',
  'api/resources/files',
  'api/resources/filters',
  'api/resources/include',
  'api/resources/indexes',
  'api/resources/pagination',
  'api/resources/reading',
  'api/resources/relations',
  'api/resources/search',
  'api/resources/upserts',
  'api/resources/validators',
].map((name) => inRoot(`test/${name}.test.ts`));

/** What a test needs; its path says which of these runs it. CONTRIBUTING.md has the table. */
const projects = [
  { ...SHARED, displayName: 'unit', testMatch: [inRoot('test/unit/**/*.test.ts')] },
  {
    ...WITH_DATABASE,
    displayName: 'api',
    testMatch: [inRoot('test/**/*.test.ts')],
    testPathIgnorePatterns: [inRoot('test/unit/'), String.raw`\.(system|browser|slow)\.test\.ts$`],
  },
  { ...WITH_DATABASE, displayName: 'system', testMatch: [inRoot('test/**/*.system.test.ts')] },
  { ...WITH_DATABASE, displayName: 'browser', testMatch: [inRoot('test/**/*.browser.test.ts')] },
  { ...WITH_DATABASE, displayName: 'full', testMatch: [inRoot('test/**/*.slow.test.ts')] },
  {
    ...WITH_DATABASE,
    displayName: 'own schema',
    setupFiles: [inRoot('test/support/ownSchema.ts')],
    testMatch: GENERATED,
  },
];

module.exports = {
  projects,
  // for what hangs: how long a test takes depends on the machine
  testTimeout: 300_000,
  // also on two cores: a test waits for the database and for other processes a third of its time (13 % less than with two)
  maxWorkers: 3,
};
