// `cdpDriver` runs `cdp:URL#PAGE`: sessions of a page or application that exposes the session bridge of document 004.
// The program cdp/agent.ts attaches to a debugger that the user has enabled and uses the JSON lines of `command:`
// agents.
import { readAddress } from "./cdp/address.ts";
import { OWN_JSON_LINES } from "./json-lines.ts";
import type { CodingDriver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";

export const cdpDriver: CodingDriver = {
  check: (rest) => void readAddress(rest),
  launch: (rest, { permissions }) => ownLaunch("session/drivers/cdp/agent", rest, JSON.stringify(permissions)),
  coding: OWN_JSON_LINES,
  lacksTools: true,
};
