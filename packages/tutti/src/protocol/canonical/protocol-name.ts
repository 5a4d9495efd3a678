// The names of the four protocols, as used on the command line and in the API.

export const PROTOCOLS = ["response", "mailbox", "delegation", "messages"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Display names, used before the word "protocol". */
export const PROTOCOL_TITLES: Record<Protocol, string> = {
  response: "delimited response",
  mailbox: "mailbox",
  delegation: "delegation",
  messages: "agent message",
};
