// `local`: the program of `packages/local-agent`, which needs no model and no network. A build compiles it into `dist`.
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";

const PROGRAM = import.meta.url.endsWith(".ts") ? "../../../../local-agent/src/agent" : "../../local-agent/agent";

export const localDriver: Driver = {
  check: () => {},
  launch: () => ownLaunch(PROGRAM, import.meta.url),
  encodeTurn: (turn) => encodeUser(turn, { variables: turn.variables }),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};
