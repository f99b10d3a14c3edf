import { getNamedType, type GraphQLOutputType } from 'graphql';

/* The names of attachments in the SDL. */

/** The member of a stored type. */
export const ATTACHMENTS = 'attachments';
/** The type of its objects. */
export const ATTACHMENT = 'Attachment';

/** Whether a field of this type is the list of an object's attachments. */
export function isAttachmentsType(type: GraphQLOutputType): boolean {
  return getNamedType(type).name === ATTACHMENT;
}
