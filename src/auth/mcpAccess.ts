/** What assistants may do with a key over MCP: nothing, read, or write too. */
export const MCP_ACCESS = ['off', 'read', 'write'] as const;
export type McpAccess = (typeof MCP_ACCESS)[number];
/** Of keys that say nothing of it, all those made before there was a choice. */
export const DEFAULT_MCP: McpAccess = 'read';
