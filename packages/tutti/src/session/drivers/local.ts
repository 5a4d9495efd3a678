// `local`: the program of `packages/local-agent`, which needs no model and no network. A build compiles it into `dist`.
import { OWN_JSON_LINES } from "./json-lines.ts";
import type { CodingDriver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";

const PROGRAM = import.meta.url.endsWith(".ts") ? "../../../../local-agent/src/agent" : "../../local-agent/agent";

export const localDriver: CodingDriver = {
  check: () => {},
  launch: () => ownLaunch(PROGRAM, import.meta.url),
  coding: OWN_JSON_LINES,
};
