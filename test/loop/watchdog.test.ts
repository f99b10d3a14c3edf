import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch, watchedGateway } from '../support/watchdog';

/* The watchdog of the tests in this folder itself: what is wrong is noticed, and what is right is not. */

const gateway = watchedGateway();

test('a loop that is held is noticed', async () => {
  const hold = async (milliseconds: number): Promise<void> => {
    process.kill(gateway.pid, 'SIGSTOP');
    await sleep(milliseconds);
    process.kill(gateway.pid, 'SIGCONT');
  };
  let said = '';
  // longer where the machine is so busy that nothing else is left of that time
  for (let held = 2500; said === '' && held <= 20_000; held *= 2) {
    said = await watch(gateway, 'held', () => hold(held), { reads: true }).then(() => '', String);
  }
  expect(said).toMatch(/\/livez was late by \d+ ms .*read was late/);
});

test('connections that stay are noticed', async () => {
  const sockets: Socket[] = [];
  const open = async (): Promise<void> => {
    for (let opened = 0; opened < 5; opened += 1) sockets.push(connect(Number(new URL(gateway.url).port), '127.0.0.1'));
    await sleep(100);
  };
  const left = watch(gateway, 'left', open, { settledWithin: 1000 });
  await expect(left).rejects.toThrow(/connections are open/);
  for (const socket of sockets) socket.destroy();
});
