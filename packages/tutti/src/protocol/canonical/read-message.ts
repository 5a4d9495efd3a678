import { readDelegationMessage, writeDelegationMessage } from "../delegation/delegation-message.ts";
import { readMailboxMessage, writeMailboxMessage } from "../mailbox/mailbox-message.ts";
import { readAgentMessage, writeAgentMessage } from "../messages/agent-message.ts";
import type { ProfileReading, ProfileOptions } from "../response/profile.ts";
import type { Protocol } from "./protocol-name.ts";
import { readResponseMessage, writeResponseMessage } from "./response-message.ts";

type Message = Record<string, unknown>;

const READERS: Record<Protocol, (value: unknown, options: ProfileOptions) => ProfileReading<unknown>> = {
  response: readResponseMessage,
  mailbox: readMailboxMessage,
  delegation: readDelegationMessage,
  messages: readAgentMessage,
};
const WRITERS: Record<Protocol, (value: unknown) => ProfileReading<unknown>> = {
  response: writeResponseMessage,
  mailbox: writeMailboxMessage,
  delegation: writeDelegationMessage,
  messages: writeAgentMessage,
};

export function readMessage(protocol: Protocol, value: unknown, options: ProfileOptions): ProfileReading<Message> {
  return READERS[protocol](value, options) as ProfileReading<Message>;
}

export function writeMessage(protocol: Protocol, value: unknown): ProfileReading<Message> {
  return WRITERS[protocol](value) as ProfileReading<Message>;
}
