/*
 * Runs test files in the worker's own realm, because packages are shared by all files of a worker (runtime.js) and must know their errors,
 * arrays and dates as such. What a file changed of the globals and the environment is put back after it.
 *
 * Also lets V8 keep the code of scripts from one file to the next: it does so if the same text is compiled under the same name
 * again, but not for vm.compileFunction, which Jest uses.
 */
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Stands for the worker's realm where Jest expects a vm context. */
const OWN_REALM = {};
const { compileFunction } = vm;

/** Whether a file uses import(), whose script must belong to the module it was compiled for. */
const imports = new Map();

vm.compileFunction = (text, parameters, { parsingContext, ...options }) => {
  const { filename } = options;
  if (parsingContext !== OWN_REALM) return compileFunction(text, parameters, { parsingContext, ...options });
  if (!imports.has(filename)) imports.set(filename, /\bimport\s*\(/.test(text));
  if (imports.get(filename)) return compileFunction(text, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  return new vm.Script(`${head}${text}\n})`, { filename, columnOffset: -head.length }).runInThisContext();
};

/** Own properties of an object, and how to put them back. */
function keep(object) {
  const before = Object.getOwnPropertyDescriptors(object);
  return () => {
    for (const key of Reflect.ownKeys(object)) if (!(key in before)) Reflect.deleteProperty(object, key);
    for (const key of Reflect.ownKeys(before)) Reflect.defineProperty(object, key, before[key]);
  };
}

module.exports = class OwnRealm {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  restore = [globalThis, process.env].map(keep);
  exit = process.exit;

  constructor({ projectConfig: config }) {
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  /** Each worker has a database of its own (globalSetup.ts). */
  async setup() {
    const { TEST_MONGODB_URIS, JEST_WORKER_ID = '1' } = process.env;
    if (TEST_MONGODB_URIS === undefined) return;
    const uris = TEST_MONGODB_URIS.split(' ');
    process.env.TEST_MONGODB_URI = uris[Number(JEST_WORKER_ID) - 1] ?? uris[0];
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const restore of this.restore) restore();
    // Jest wraps it for each file
    process.exit = this.exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return OWN_REALM;
  }
};
