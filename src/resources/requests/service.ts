import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { READ_WITHIN } from '../../database/native';
import type { OrganisationData, UnitOfWork } from '../../database/organisationData';
import { validationFailed } from '../../errors';
import { findPage, type ListArguments, type Page } from '../../database/pagination';
import { directiveOf, fieldsOf, loadDocument } from '../../schema/sdl';
import { searchWords } from '../../stored/search';
import { brokenTexts } from '../../stored/brokenTexts';
import { readOne } from '../../stored/collection';
import { customers } from '../customers/customers';
import { type Message, messages, requests, type RequestThread } from './requests';

/** What a new thread writes. */
const STORED = { writes: [requests, messages] };
/** Maximum length of a subject, in characters. */
const SUBJECT_LENGTH = lengthOf('subject');
/** Names of the members of the person who sent a request. */
const OF_CONTACT = requests.stored.members.flatMap(({ name, members }) => (name === 'contact' ? members : []));

function lengthOf(member: string): number {
  const field = fieldsOf(loadDocument(), requests.stored.type).find(({ name }) => name.value === member);
  return directiveOf(field, 'constraint')?.max_length ?? Infinity;
}

/** A thread's messages, oldest first. @throws AppError not_found if the thread does not exist. */
export async function listMessages(
  data: OrganisationData,
  args: ListArguments & { readonly id: string },
): Promise<Page<Message>> {
  const { _id: id } = await readOne(data, requests, args.id, 'request');
  const list = {
    organisationId: data.organisationId,
    operation: 'request_messages',
    args,
    filters: { id },
    conditions: [{ request_id: id }],
    defaultSort: 'created_at',
  };
  return data.reads(() => findPage(data.collection(messages), list));
}

export interface NewRequest {
  readonly text: string;
  readonly subject?: string | null;
  readonly customer_id?: string | null;
  readonly contact?: { readonly name: string; readonly email?: string | null; readonly phone?: string | null } | null;
}

/**
 * Creates a thread with its first message, in one transaction.
 * @throws AppError validation_failed if the text is blank or the organisation has no such customer.
 */
export async function openRequest(
  data: OrganisationData,
  input: NewRequest,
  write: UnitOfWork,
): Promise<RequestThread> {
  const broken = brokenTexts(input);
  if (broken.length > 0) throw validationFailed(broken);
  const customerId = input.customer_id ? input.customer_id.toLowerCase() : null;
  const subject = subjectOf(input);
  const customer = customerId === null ? null : await data.related(customers, customerId, customers.projection);
  if (subject === '')
    throw validationFailed([{ pointer: '/text', code: 'length', detail: 'must contain more than white space' }]);
  if (customerId !== null && !customer) {
    throw validationFailed([
      { pointer: '/customer_id', code: 'not_found', detail: 'is not the id of a customer of the organisation' },
    ]);
  }
  const { contact } = input;
  const search = searchWords(subject, input.text);
  return write(async (session, now) => {
    const authorName = contact?.name ?? (customer && (await nameOf(data, customer._id, session)));
    const thread: RequestThread = {
      _id: randomUUID(),
      subject,
      status: 'open',
      customer_id: customerId,
      contact: contact ? withAll(contact) : null,
      message_count: 1,
      last_message_at: now,
      created_at: now,
      updated_at: now,
      search,
    };
    const message: Message = {
      _id: randomUUID(),
      request_id: thread._id,
      author: 'customer',
      author_name: authorName,
      body: input.text,
      created_at: now,
    };
    await data.collection(requests).insertOne(thread, { session });
    await data.collection(messages).insertOne(message, { session });
    return thread;
  }, STORED);
}

/** Read in the transaction that copies it, which whoever erases the customer waits for. */
async function nameOf(data: OrganisationData, id: string, session: ClientSession): Promise<string | null> {
  const how = { projection: { name: 1 }, session, maxTimeMS: READ_WITHIN };
  const found = await data.collection(customers).findOne({ _id: id }, how);
  return found?.name ?? null;
}

/** A contact with every member of the stored one; null where it says nothing. */
function withAll(given: NonNullable<NewRequest['contact']>): RequestThread['contact'] {
  const members = given as Readonly<Record<string, unknown>>;
  const all = Object.fromEntries(OF_CONTACT.map(({ name }) => [name, members[name] ?? null]));
  return all as unknown as RequestThread['contact'];
}

/** The given subject, or the first line of the text if it is missing or blank. */
function subjectOf({ subject, text }: NewRequest): string {
  const given = subject?.trim() ?? '';
  return given === '' ? firstLine(text) : given;
}

function firstLine(text: string): string {
  const line = text.trim().split(/\r?[\n\u2028\u2029]/, 1)[0] ?? '';
  const characters = Array.from(line.trim());
  return characters.length <= SUBJECT_LENGTH
    ? characters.join('')
    : `${characters.slice(0, SUBJECT_LENGTH - 1).join('')}…`;
}
