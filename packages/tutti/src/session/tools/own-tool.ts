/** `SERVER_NAME` is the MCP server in the configuration of agents. */
export const SERVER_NAME = "tutti";

const OWN_TOOL = /^mcp__?tutti__?[a-z]/;

/** Tutti offers this tool itself, so its use needs no permission, and is no work. `name` is the agent's name for it. */
export const isOwnTool = (name: string): boolean => OWN_TOOL.test(name);
