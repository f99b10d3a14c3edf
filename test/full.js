/**
 * Files that only `npm run test:full` runs: each takes long for what it adds to the others, or repeats a promise under harder conditions.
 */
const FILES = `
  attacks/canaries
  attacks/injection
  attacks/injectionWrites
  cli/doctorStates.system
  cli/killed.system
  cli/restore.system
  cli/restorePeppers.system
  clients/python.system
  docs/contributing.system
  docs/operators.system
  examples/calling.system
  examples/dashboard.browser
  examples/dashboardTrouble.browser
  examples/receivers.system
  examples/receiversAlone.system
  operation/deadSockets.system
  operation/events.system
  operation/heavyOrganisation.system
  operation/streams.system
  pages/browser.browser
  pages/explorerKey.browser
  pages/referenceSamples.browser
  settings/keyDetails.browser
  settings/keyWrites.browser
  settings/readFaults.browser
  settings/requestsPage.browser
  settings/webhookWrites.browser
  webhooks/bounds.system
  webhooks/turns.system
`;

module.exports = FILES.trim()
  .split(/\s+/)
  .map((name) => `test/${name}.test.ts`);
