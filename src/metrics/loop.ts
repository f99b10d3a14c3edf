import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** How often the loop is looked at, in milliseconds, which the monitor counts as delay. */
const RESOLUTION = 10;

/** How long anything held the event loop, which is how late every other caller was answered. */
export function addLoopDelay(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  new Gauge({
    name: 'scopegate_loop_delay_seconds',
    help: 'The longest time that the event loop was held since the last scrape.',
    registers: [registry],
    collect() {
      this.set(Math.max(0, delays.max / 1e9 - RESOLUTION / 1000));
      delays.reset();
    },
  });
}
