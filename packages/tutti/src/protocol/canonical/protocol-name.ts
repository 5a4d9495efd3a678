// The command line and the API use the names in `PROTOCOLS`.

export const PROTOCOLS = ["response", "mailbox", "delegation", "messages"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** `PROTOCOL_TITLES` appear before the word "protocol". */
export const PROTOCOL_TITLES: Record<Protocol, string> = {
  response: "delimited response",
  mailbox: "mailbox",
  delegation: "delegation",
  messages: "agent message",
};
