// Exports for the commands that work on message files, without an engine.
export { Mailbox } from "../mailbox/mailbox.ts";
export type { Layout } from "../mailbox/layout.ts";
export { detectProtocol } from "../protocol/canonical/detect-protocol.ts";
export type { Protocol } from "../protocol/canonical/protocol-name.ts";
export { readMessage } from "../protocol/canonical/read-message.ts";
export { translate } from "../protocol/canonical/translate.ts";
export { readConfigFile, readMessageFile, readQueueFile, readStatusFile } from "../protocol/mailbox/mailbox-file.ts";
export type { Problem, ReadOptions } from "../protocol/profile.ts";
export { ResponseParser } from "../protocol/response-parser.ts";
export { readTolerantly } from "../protocol/tolerant-json.ts";
export { realWorld } from "../world.ts";
