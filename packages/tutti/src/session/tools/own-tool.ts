/** The name of the MCP server in the configuration of agents. */
export const SERVER_NAME = "tutti";

const OWN_TOOL = /^mcp__?tutti__?[a-z]/;

/** Whether an agent's name of a tool is one that Tutti offers itself. Its use needs no permission, and is no work. */
export const isOwnTool = (name: string): boolean => OWN_TOOL.test(name);
