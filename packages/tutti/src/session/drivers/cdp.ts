// `cdp:URL#PAGE`: sessions of a page or an application that shows the session bridge of document 004 to a debugger. A
// program of ours attaches to a debugger that the person has switched on, and speaks the same lines as any `command:`
// agent.
import { readAddress } from "./cdp/address.ts";
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { ownLaunch } from "../program.ts";

export const cdpDriver: Driver = {
  check: (rest) => void readAddress(rest),
  launch: (rest, { permissions }) => ownLaunch("cdp/agent", import.meta.url, rest, JSON.stringify(permissions)),
  encodeTurn: (turn) => encodeUser(turn, { variables: turn.variables }),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};
