import { cleanUp } from '../../faults/cleanup';
import { findProgram } from './programs';

export { type OwnRedis as TestRedis, startRedis } from '../../faults/redis';

export const REDIS = findProgram('redis-server');
export const INSTALL_REDIS = 'apt-get install redis-server';

// a failed test leaves its Redis running
afterAll(cleanUp);
