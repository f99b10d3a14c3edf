import type { ErrorCode } from '../errors';
import { graphqlError, restError } from './errorExamples';

/** One of several things that give a code, and what to do then. */
export interface Cause {
  readonly title: string;
  /** What happened; here and in `todo`, parts in backticks are code. */
  readonly happened: string;
  readonly todo: string;
  readonly example: { readonly api: string; readonly body: object };
}

/** MCP answers a call that the key may not make with a result, which the model reads. */
const TOOL_RESULT = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    content: [
      {
        type: 'text',
        text: JSON.stringify({
          code: 'forbidden',
          status: 403,
          detail: 'This key may only read over MCP; open_request needs a key whose mcp setting is write.',
          request_id: '…',
        }),
      },
    ],
    isError: true,
  },
};

/** The codes that mean several things, with each of these; their pages show these in place of the one example. */
export const CAUSES: Partial<Record<ErrorCode, readonly Cause[]>> = {
  forbidden: [
    {
      title: 'A key called an operation for people',
      happened:
        'API keys, webhooks, members and the audit log are managed by signed-in users; no key can, whatever its scopes.',
      todo: 'Sign in at `/settings/integrations` and do it there.',
      example: {
        api: 'GraphQL, with a key',
        body: graphqlError('forbidden', 'This operation is for signed-in users; API keys cannot use it.', 'keys'),
      },
    },
    {
      title: 'A member did what only admins may',
      happened: 'Members of an organisation can view keys and webhooks; only admins can change them.',
      todo: 'Ask an admin of the organisation to do it, or to make you an admin.',
      example: {
        api: 'GraphQL of the settings',
        body: graphqlError(
          'forbidden',
          'This operation requires the role admin; yours is member. Ask an admin of the organisation.',
          'create_key',
        ),
      },
    },
    {
      title: 'A signed-in user asked for the organisation’s data',
      happened:
        'Quotes, orders and all other data are read and written with an API key; a session reads only figures of them.',
      todo: 'Create a key and call `/graphql` or `/api/v1` with it.',
      example: {
        api: 'GraphQL of the settings',
        body: graphqlError(
          'forbidden',
          'This operation requires an API key; signed-in users manage keys, and read no data but figures.',
          'quotes',
        ),
      },
    },
    {
      title: 'A key for some customers used a type that is of none',
      happened:
        'A key with `customer_ids` sees what belongs to these customers. Objects of this type refer to what belongs to customers, but to no customer, so nobody can say whose they are.',
      todo: 'Use a key without `customer_ids`, or ask whoever runs the gateway to add a customer and `@restricted` to the type.',
      example: {
        api: 'REST, HTTP 403',
        body: restError(
          'forbidden',
          'A key with customer_ids cannot use this: Visit refers to Order, but to no customer.',
        ),
      },
    },
    {
      title: 'The key may not be used over MCP, or may only read',
      happened:
        'Each key has a setting `mcp`: `off`, `read` or `write`. With `off` every request to `/mcp` gets HTTP 403; with `read` a call that writes gets a result with `isError`.',
      todo: 'Ask an admin to change the setting of the key under Settings, API keys.',
      example: { api: 'MCP, result of a call', body: TOOL_RESULT },
    },
    {
      title: 'A page of another origin called MCP',
      happened: 'A browser sent an `Origin` that the gateway does not know.',
      todo: 'Call from a server, or ask whoever runs the gateway to add the origin to `CORS_ORIGINS`.',
      example: {
        api: 'MCP, HTTP 403',
        body: restError('forbidden', 'Pages of this origin may not call it; see CORS_ORIGINS.'),
      },
    },
    {
      title: 'The settings page is out of date',
      happened: 'A form was sent from a page that was opened in another session, or from another site.',
      todo: 'Reload the page, sign in again if it asks for it, and repeat the change.',
      example: {
        api: 'Settings, HTTP 403',
        body: restError('forbidden', 'The CSRF token is missing or invalid. Reload the page.'),
      },
    },
  ],
};
