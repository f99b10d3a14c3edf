import './reference.css';
import './code';
import './search';
import { searchable } from './reference/list';
import { rememberLanguage, samples } from './reference/samples';
import { tryIt } from './reference/tryIt';

searchable();
rememberLanguage();
const form = document.querySelector<HTMLFormElement>('#request');
if (form) tryIt(form, samples(form));
