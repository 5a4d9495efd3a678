// `scriptDriver` plays a scenario (`script:FILE`), for rehearsals and tests. The program script/player.ts uses the JSON
// lines of `command:` agents.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { OWN_JSON_LINES } from "./json-lines.ts";
import { Scenario } from "./script/scenario.ts";
import type { CodingDriver } from "../driver.ts";
import { ownLaunch } from "../keeper/program.ts";
import { TuttiError } from "../../schema/error.ts";
import { z } from "zod";

export const scriptDriver: CodingDriver = {
  check: (rest, cwd) => void readScenario(isAbsolute(rest) ? rest : join(cwd, rest)),
  launch: (rest) => ({
    ...ownLaunch("session/drivers/script/player", rest),
    // Files that a scenario waits for are usually beside it.
    access: { readable: [rest, dirname(rest)] },
  }),
  coding: OWN_JSON_LINES,
};

function readScenario(file: string): Scenario {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const problem = `The scenario ${file} cannot be read: ${(error as Error).message}.`;
    throw new TuttiError("agent_not_startable", `${problem} Check the path after "script:".`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const problem = `The scenario ${file} is not JSON: ${(error as Error).message}.`;
    throw new TuttiError("invalid_scenario", `${problem} Correct the file.`);
  }
  const parsed = Scenario.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = z.prettifyError(parsed.error);
  throw new TuttiError("invalid_scenario", `The scenario ${file} is invalid. Correct these problems:\n${problems}`);
}
