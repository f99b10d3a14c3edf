import { jobs } from './jobs';
import { python } from './jobs/programs';

/* jobs.system.test.ts for the programs in Python, whose client is built and installed. */

jobs(python);
