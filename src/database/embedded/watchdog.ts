/** The watchdog's argument. */
export interface WatchdogOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** SecantusDB's Python server waits 2 s in accept() before it closes; a connection to its port wakes it. */
  readonly rousePort?: number;
}

/**
 * Runs one child and stops it when its own stdin closes, which the kernel does even if the parent gets SIGKILL.
 * Plain JavaScript for `node -e`: as text it works the same from TypeScript, from the build and under jest,
 * and works for any binary, since none of them watches its parent.
 * Prints one JSON line when the child has started and one when it has exited.
 */
export const WATCHDOG_SOURCE = `
const { spawn } = require('node:child_process');
const { openSync } = require('node:fs');
const { connect } = require('node:net');
const { command, args, logFile, graceMs, rousePort } = JSON.parse(process.argv[1]);
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
process.stdout.on('error', () => {});
const log = openSync(logFile, 'a');
const child = spawn(command, args, { stdio: ['ignore', log, log], windowsHide: true });
let stopping = false;
const rouse = () => {
  const socket = connect(rousePort, '127.0.0.1', () => socket.destroy()).on('error', () => {});
};
const stop = () => {
  if (stopping) return;
  stopping = true;
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), graceMs);
  if (rousePort) setInterval(rouse, 50);
};
const end = (message) => { say({ type: 'exit', ...message }); process.exit(0); };
child.on('error', (error) => { if (child.pid === undefined) end({ code: null, signal: null, error: error.message }); });
child.on('exit', (code, signal) => end({ code, signal }));
if (child.pid !== undefined) say({ type: 'started', pid: child.pid });
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, stop);
process.stdin.on('end', stop).on('close', stop).on('error', stop).resume();
`;
