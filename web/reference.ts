import './reference.css';
import './code';
import './search';
import { follow, searchable } from './reference/list';
import { samples } from './reference/samples';
import { tryIt } from './reference/tryIt';

follow();
searchable();
const form = document.querySelector<HTMLFormElement>('#request');
if (form) tryIt(form, samples(form));
