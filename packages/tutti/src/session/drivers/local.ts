// `localDriver` runs the program of `packages/local-agent`, which needs no model and no network. A build compiles it
// into `dist`.
import { OWN_JSON_LINES } from "./json-lines.ts";
import { assetPath } from "../../own-files.ts";
import type { CodingDriver } from "../driver.ts";
import { launchProgram } from "../keeper/program.ts";

/**
 * `YOUNG_GENERATION` limits the memory for short-lived objects to three times these megabytes. Node's own limit of 64
 * would make the process twice as large as the facts about a large repository need, and makes it only a tenth faster.
 */
const YOUNG_GENERATION = "--max-semi-space-size=4";

export const localDriver = {
  check: () => {},
  launch: () =>
    launchProgram([YOUNG_GENERATION, assetPath("../local-agent/src/agent.ts", "dist/local-agent/agent.js")]),
  coding: OWN_JSON_LINES,
  lacksTools: true,
} satisfies CodingDriver;
