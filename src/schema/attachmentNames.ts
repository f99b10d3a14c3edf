/* The names of attachments in the SDL. */

/** The member of a stored type. */
export const ATTACHMENTS = 'attachments';
/** The type of its objects. */
export const ATTACHMENT = 'Attachment';
