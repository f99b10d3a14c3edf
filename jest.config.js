const swc = ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, sourceMaps: 'inline' }];

/** Tests go through HTTP against a real server and a real database, which test/support/globalSetup.ts starts once. */
module.exports = {
  rootDir: __dirname,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: { '^.+\\.ts$': swc },
  testEnvironment: '<rootDir>/test/support/environment.js',
  runtime: '<rootDir>/test/support/runtime.js',
  globalSetup: '<rootDir>/test/support/globalSetup.ts',
  globalTeardown: '<rootDir>/test/support/globalTeardown.ts',
  reporters: ['default', '<rootDir>/test/support/progressReporter.js'],
  testTimeout: 60_000,
  // also on two cores: a test waits for the database and for other processes a third of its time (13 % less than with two)
  maxWorkers: 3,
};
