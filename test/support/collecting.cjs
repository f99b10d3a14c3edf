/* Preloaded (node --require): collects garbage on SIGWINCH, so that a test sees what is kept and not what is yet to be collected. */
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

v8.setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGWINCH', () => {
  collect();
});
