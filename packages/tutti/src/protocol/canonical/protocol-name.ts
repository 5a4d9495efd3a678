// The four protocols by name, as the command line and the API spell them.

export const PROTOCOLS = ["response", "mailbox", "delegation", "messages"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What a person calls each of them, before the word protocol. */
export const PROTOCOL_TITLES: Record<Protocol, string> = {
  response: "delimited response",
  mailbox: "mailbox",
  delegation: "delegation",
  messages: "agent message",
};
