/*
 * Jest loads every package again for each test file, and V8 then compiles and optimises its functions again: a third of the
 * processor time of most files. Here a worker loads a package once, as Node does, and only the product and its tests are loaded for each
 * file. jest.mock works as usual, since Jest asks for mocks before it loads anything.
 */
const { createRequire, isBuiltin } = require('node:module');
const { default: Runtime } = require('jest-runtime');

/** Jest's own packages and what uses its globals, which belong to a test file. */
const OF_A_FILE = /^(jest|@jest\/|expect$|@apollo\/server-integration-testsuite)/;
const PATH = /^(\.|\/)/;

module.exports = class SharedPackages extends Runtime {
  requireModule(from, name, ...rest) {
    const isPackage = name !== undefined && !PATH.test(name) && !isBuiltin(name) && !OF_A_FILE.test(name);
    // Jest loads no ES modules
    const isNative = isPackage || name?.endsWith('.mjs');
    return isNative ? createRequire(from)(name) : super.requireModule(from, name, ...rest);
  }
};
