// `local`: the program of `packages/local-agent`, which needs no model and no network. A build compiles it into `dist`.
import { OWN_JSON_LINES } from "./json-lines.ts";
import { assetPath } from "../../own-files.ts";
import type { CodingDriver } from "../driver.ts";
import { launchProgram } from "../keeper/program.ts";

export const localDriver: CodingDriver = {
  check: () => {},
  launch: () => launchProgram(assetPath("../local-agent/src/agent.ts", "dist/local-agent/agent.js")),
  coding: OWN_JSON_LINES,
};
