// The actions of operator.mjs on the command line:
// SCOPEGATE_URL=http://127.0.0.1:4000 OPERATOR_SECRET=… node product.mjs signUp 42 "Acme Ltd"
import { actions } from './operator.mjs';

const [action, ...args] = process.argv.slice(2);
if (!Object.hasOwn(actions, action ?? '')) throw new Error(`give one of ${Object.keys(actions).join(', ')}`);
console.log(JSON.stringify(await actions[action](...args)));
