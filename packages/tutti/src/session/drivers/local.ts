// `local`: the built-in agent, a separate program that needs no model and no network.
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";

export const localDriver: Driver = {
  check: () => {},
  launch: () => ownLaunch("local/agent", import.meta.url),
  encodeTurn: (turn) => encodeUser(turn, { variables: turn.variables }),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};
