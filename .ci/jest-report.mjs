// Prints how many tests of a report of Jest passed and failed, and adds the names of those that failed to a file.
//   node .ci/jest-report.mjs REPORT FAILED
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [, , report, failed] = process.argv;
const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = JSON.parse(readFileSync(report));

for (const { name, status, assertionResults } of testResults) {
  if (status !== 'failed') continue;
  const tests = assertionResults.filter((test) => test.status === 'failed');
  const lines = tests.length > 0 ? tests.map(({ fullName }) => `: ${fullName}`) : [' could not run'];
  for (const line of lines) appendFileSync(failed, `${relative('.', name)}${line}\n`);
}
console.log(numPassedTests, numFailedTests + numRuntimeErrorTestSuites);
