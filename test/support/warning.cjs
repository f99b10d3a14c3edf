/* Preloaded (node --require) to emit a warning of the runtime while the program serves: at the first SIGUSR2. */
process.once('SIGUSR2', () => process.emitWarning('sample'));
