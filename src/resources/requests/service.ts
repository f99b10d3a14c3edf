import { randomUUID } from 'node:crypto';
import type { GraphQLResolveInfo } from 'graphql';
import type { ClientSession } from 'mongoose';
import { WITHOUT_SEARCH } from '../../mongo/collection';
import { READ_TIMEOUT } from '../../mongo/native';
import type { OrganisationData } from '../../tenant/organisationData';
import type { UnitOfWork } from '../../tenant/unitOfWork';
import { findPage, type ListArguments, type Page } from '../../tenant/pagination';
import { notFound, validationFailed } from '../../errors';
import { rowHolder } from '../../operations/answers';
import type { DataContext } from '../../operations/context';
import type { Resolver } from '../../operations/run';
import { normalised } from '../../schema/callerKeys';
import { published } from '../../schema/model';
import { directiveOf } from '../../schema/sdl';
import { brokenRules } from '../../stored/brokenRules';
import { brokenTexts } from '../../stored/brokenTexts';
import { type ChangeArguments, changeObject, throwFaults, writeUnique } from '../../stored/change';
import { readOne, type RowReader } from '../../stored/collection';
import { erasedCustomerFault, erasedCustomersOf } from '../../stored/erasedCustomers';
import { isServed, mayRead, type Reader, requireServed } from '../../stored/invalidRows';
import { metadataFaults, withMetadata } from '../../stored/metadata';
import { referenceChecks, referencesOf } from '../../stored/referenceFaults';
import { changedAt, writeRows } from '../../stored/rows';
import { searchWords } from '../../stored/search';
import { customers } from '../customers/customers';
import { addWords, type Message, messages, requests, type RequestThread, withCounters, withMessage } from './requests';

/** The collections that a new thread or message is written to. */
const BOTH = { writes: [requests, messages] };
const REFERENCES = referencesOf(requests, [customers]);
const ERASED_THREAD = 'is a request of a customer that was erased; only the operator can readmit the customer';
/** Maximum length of a subject, in characters. */
const SUBJECT_LENGTH = maxLengthOf('subject');
/** The stored members of a request's contact, the person who sent it. */
const CONTACT_MEMBERS = requests.stored.members.flatMap(({ name, members }) => (name === 'contact' ? members : []));

/** The @constraint(max_length:) of a member of requests. */
function maxLengthOf(member: string): number {
  const field = published.fieldsOf(requests.stored.type).find(({ name }) => name.value === member);
  return directiveOf(field, 'constraint')?.max_length ?? Infinity;
}

/** A thread's messages, oldest first. @throws AppError not_found if the thread does not exist. */
async function listMessages(reader: RowReader, args: ListArguments & { readonly id: string }): Promise<Page<Message>> {
  const { data } = reader;
  const { _id: id } = await readOne(data, requests, args.id, 'request');
  const list = {
    organisationId: data.organisationId,
    operation: 'request_messages',
    args,
    filters: { id },
    conditions: [{ request_id: id }],
    defaultSort: 'created_at',
  };
  const page = await data.reads(() => findPage(data.collection(messages), list, data.reading(rowHolder(reader))));
  return { ...page, data: page.data.filter((row) => isServed(reader, messages, row, WITHOUT_SEARCH)) };
}

interface NewRequest {
  readonly text: string;
  readonly external_ref?: string | null;
  readonly subject?: string | null;
  readonly customer_id?: string | null;
  readonly contact?: { readonly name: string; readonly email?: string | null; readonly phone?: string | null } | null;
  /** Changes of metadata, as an API has them. */
  readonly metadata?: unknown;
}

/** What a new thread needs of its context. */
interface Writing {
  readonly write: UnitOfWork;
  /** Its currency is the default of such members, which the user's own folder may add. */
  readonly principal: { readonly organisation: { readonly currency: string } };
}

/** What a new message needs of its context. */
interface Answering extends Writing, Pick<DataContext, 'noteInvalid'> {
  readonly principal: Writing['principal'] & Reader;
}

/**
 * Creates a thread with its first message, in one transaction.
 * @throws AppError validation_failed if the text is blank or the organisation has no such customer; conflict if another thread has the
 * external_ref.
 */
export async function openRequest(
  data: OrganisationData,
  input: NewRequest,
  { write, principal: { organisation } }: Writing,
): Promise<RequestThread> {
  throwFaults([...brokenTexts(input), ...metadataFaults({ ...input })]);
  const customerId = input.customer_id?.toLowerCase() ?? null;
  const externalRef = input.external_ref == null ? null : normalised(input.external_ref);
  const subject = subjectOf(input);
  requireText(input);
  const { contact } = input;
  const search = searchWords([subject, input.text]);
  const _id = randomUUID();
  return writeUnique(
    data,
    requests,
    () => ({ _id, external_ref: externalRef }),
    () =>
      write(async (session, now) => {
        // in the transaction, for which an erasure of the customer waits
        throwFaults((await referenceChecks(data, REFERENCES, [input], session))(input, ''));
        const authorName = contact?.name ?? (customerId && (await customerName(data, customerId, session)));
        const opened: RequestThread = {
          // for the status, and members that the user's own folder adds
          ...(requests.defaults(organisation) as Pick<RequestThread, 'status'>),
          _id,
          subject,
          customer_id: customerId,
          external_ref: externalRef,
          contact: contact ? withAllMembers(contact) : null,
          message_count: 1,
          last_message_at: now,
          created_at: now,
          updated_at: now,
          search,
        };
        const thread = withMetadata(opened, { ...input }, undefined);
        throwFaults(brokenRules(requests, thread));
        const message: Message = {
          ...messages.defaults(organisation),
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
      }, BOTH),
  );
}

interface NewMessage {
  readonly id: string;
  readonly text: string;
  readonly author?: Message['author'] | null;
  readonly author_name?: string | null;
}

/**
 * Adds a message to a thread, and sets the thread's status according to who wrote it, in one transaction.
 * @throws AppError validation_failed if the text is blank, or the thread's customer was erased; not_found; stored_object_invalid
 */
export async function addMessage(
  data: OrganisationData,
  input: NewMessage,
  { write, noteInvalid, principal }: Answering,
): Promise<Message> {
  throwFaults(brokenTexts(input));
  requireText(input);
  const author = input.author ?? 'customer';
  return write(async (session, now) => {
    const stored = await threadOf(data, input.id, session);
    const erased = await erasedCustomersOf(data, requests, [stored], session);
    const fault = erasedCustomerFault(requests, stored, erased, '');
    if (fault) throwFaults([{ ...fault, pointer: '/id', detail: ERASED_THREAD }]);
    const before = await withCounters(data, stored, session);
    requireServed({ noteInvalid, principal }, requests, before, WITHOUT_SEARCH);
    const at = changedAt(before.last_message_at, now);
    const message: Message = {
      ...messages.defaults(principal.organisation),
      _id: randomUUID(),
      request_id: before._id,
      author,
      author_name: input.author_name ?? (author === 'customer' ? await senderOf(data, before, session) : null),
      body: input.text,
      created_at: at,
    };
    const row: RequestThread = {
      ...withMessage(before, message),
      status: statusAfter(author, before.status),
      updated_at: changedAt(before.updated_at, at),
    };
    await data.collection(messages).insertOne(message, { session });
    await writeRows(data.collection(requests), [{ row, before: stored }], { ordered: true, session });
    // without the scope to read threads, only a name that the caller sent is answered, not that of the thread's sender
    return mayRead(principal, requests) ? message : { ...message, author_name: input.author_name ?? null };
  }, BOTH);
}

/** A customer's message opens the thread, even a closed one; an answer does not reopen a closed thread. */
function statusAfter(author: Message['author'], before: RequestThread['status']): RequestThread['status'] {
  if (author === 'customer') return 'open';
  return before === 'closed' ? 'closed' : 'answered';
}

/** @throws AppError not_found */
async function threadOf(data: OrganisationData, id: string, session: ClientSession): Promise<RequestThread> {
  const options = { session, maxTimeMS: READ_TIMEOUT };
  const thread = await data.collection(requests).findOne({ _id: id.toLowerCase() }, options);
  if (!thread) throw notFound('request');
  return thread;
}

/** The name of the person who sent a request, or else of its customer. */
async function senderOf(
  data: OrganisationData,
  { contact, customer_id: customer }: RequestThread,
  session: ClientSession,
): Promise<string | null> {
  if (contact) return contact.name;
  return customer === null ? null : customerName(data, customer, session);
}

/** Changes a thread. @throws AppError as {@link changeObject} does */
async function updateRequest(
  args: ChangeArguments,
  context: DataContext,
  info: Pick<GraphQLResolveInfo, 'schema'>,
): Promise<object> {
  const customerId = (args.customer_id as string | null | undefined)?.toLowerCase();
  return changeObject(requests, args, context, info, {
    references: REFERENCES,
    merge: (before, { subject, ...input }) => ({
      ...input,
      ...(customerId !== undefined && { customer_id: customerId }),
      ...(typeof subject === 'string' && subject.trim() !== before.subject && retitled(before, subject.trim())),
    }),
  });
}

/** Keeps the words of earlier subjects, so that the thread can still be found by them. */
function retitled(thread: RequestThread, subject: string): Pick<RequestThread, 'subject' | 'search'> {
  return { subject, search: addWords(thread, subject) };
}

function requireText({ text }: { readonly text: string }): void {
  if (text.trim() === '')
    throw validationFailed([{ pointer: '/text', code: 'length', detail: 'must contain more than white space' }]);
}

/**
 * A customer's name, to be copied to a thread or message; null if there is no such customer. It is read in the transaction that copies it, because
 * an erasure of the customer waits for such transactions, and then erases the copy.
 */
async function customerName(data: OrganisationData, id: string, session: ClientSession): Promise<string | null> {
  const options = { projection: { name: 1 }, session, maxTimeMS: READ_TIMEOUT };
  const customer = await data.collection(customers).findOne({ _id: id }, options);
  return customer?.name ?? null;
}

/** Completes a contact to its stored form: members that were not given become null. */
function withAllMembers(contact: NonNullable<NewRequest['contact']>): RequestThread['contact'] {
  const members = contact as Readonly<Record<string, unknown>>;
  const all = Object.fromEntries(CONTACT_MEMBERS.map(({ name }) => [name, members[name] ?? null]));
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

const updateResolver: Resolver = (_, args, context, info) => updateRequest(args as ChangeArguments, context, info);

export const requestResolvers = {
  Query: {
    request_messages: (_: unknown, args: ListArguments & { id: string }, context: DataContext) =>
      listMessages(context, args),
  },
  Mutation: {
    open_request: (_: unknown, args: NewRequest, context: DataContext) => openRequest(context.data, args, context),
    add_request_message: (_: unknown, args: NewMessage, context: DataContext) =>
      addMessage(context.data, args, context),
    update_request: updateResolver,
  },
};
