// `cdp:URL#PAGE`: sessions of a page or application that exposes the session bridge of document 004. The program
// cdp/agent.ts attaches to a debugger that the user has enabled and speaks the JSON lines of `command:` agents.
import { readAddress } from "./cdp/address.ts";
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";

export const cdpDriver: Driver = {
  check: (rest) => void readAddress(rest),
  launch: (rest, { permissions }) => ownLaunch("cdp/agent", import.meta.url, rest, JSON.stringify(permissions)),
  encodeTurn: (turn) => encodeUser(turn, { variables: turn.variables }),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};
