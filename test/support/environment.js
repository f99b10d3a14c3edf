/*
 * Jest compiles every module again for each test file, a fifth of the time of most files. V8 caches the code of scripts within
 * a worker if the same text is compiled under the same name again, but not the code from vm.compileFunction.
 */
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { compileFunction } = vm;

/** Whether a file uses import(), whose script must belong to the module it was compiled for. */
const imports = new Map();

vm.compileFunction = (text, parameters, options) => {
  const { filename, parsingContext } = options;
  if (!imports.has(filename)) imports.set(filename, /\bimport\s*\(/.test(text));
  if (imports.get(filename)) return compileFunction(text, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  return new vm.Script(`${head}${text}\n})`, { filename, columnOffset: -head.length }).runInContext(parsingContext);
};

module.exports = TestEnvironment;
