/*
 * Jest compiles each module anew for each test file, which took a fifth of the time of most. V8 keeps the code of scripts, within one
 * worker, for whoever compiles the same text under the same name again; of what vm.compileFunction compiles it keeps nothing.
 */
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { compileFunction } = vm;

/** Whether a file's text has an import(), whose script belongs to the module that it was compiled for. */
const imports = new Map();

vm.compileFunction = (text, parameters, options) => {
  const { filename, parsingContext } = options;
  if (!imports.has(filename)) imports.set(filename, /\bimport\s*\(/.test(text));
  if (imports.get(filename)) return compileFunction(text, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  return new vm.Script(`${head}${text}\n})`, { filename, columnOffset: -head.length }).runInContext(parsingContext);
};

module.exports = TestEnvironment;
