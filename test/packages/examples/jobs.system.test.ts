import { jobs } from './jobs';
import { typescript } from './jobs/programs';

/* The programs of the guide's jobs, each checked by what it leaves behind, and killed at its worst moments. */

jobs(typescript);
