// `script:FILE`: an agent that plays a scenario, for rehearsals and tests. It is a program of its own and speaks the
// same lines as any `command:` agent.
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import { Scenario } from "./script/scenario.ts";
import type { Driver } from "../driver.ts";
import { ownLaunch } from "../program.ts";
import { TuttiError } from "../../schema/error.ts";
import { z } from "zod";

export const scriptDriver: Driver = {
  check: (rest, cwd) => void readScenario(isAbsolute(rest) ? rest : join(cwd, rest)),
  launch: (rest) => ownLaunch("script/player", import.meta.url, rest),
  encodeTurn: (turn) => encodeUser(turn, { variables: turn.variables }),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};

export function readScenario(file: string): Scenario {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new TuttiError("agent_not_startable", `the scenario ${file} cannot be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TuttiError("invalid_scenario", `the scenario ${file} is not JSON: ${(error as Error).message}`);
  }
  const parsed = Scenario.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new TuttiError("invalid_scenario", `the scenario ${file} is not as expected: ${z.prettifyError(parsed.error)}`);
}
