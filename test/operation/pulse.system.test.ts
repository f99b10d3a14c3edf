import { type Pulse, pulseOf, type Question } from '../../src/database/pulse';

const pulses: Pulse[] = [];
afterAll(() => Promise.all(pulses.map((pulse) => pulse.close())));

function isBeating(question: Question): Promise<boolean> {
  const pulse = pulseOf(process.env.TEST_MONGODB_URI!, question);
  pulses.push(pulse);
  return pulse.isBeating();
}

test('a server that answers the query is up', async () => {
  expect(await isBeating((client) => client.db('pulse').collection('nothing').findOne({}))).toBe(true);
});

test('a server that accepts connections but rejects the query is not up', async () => {
  expect(await isBeating((client) => client.db('pulse').command({ no_such_command: 1 }))).toBe(false);
});
