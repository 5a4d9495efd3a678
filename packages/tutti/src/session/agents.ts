import type { Decoder, Driver } from "./driver.ts";
import { acpDriver } from "./drivers/acp.ts";
import { cdpDriver } from "./drivers/cdp.ts";
import { claudeDriver } from "./drivers/claude.ts";
import { codexDriver } from "./drivers/codex.ts";
import { commandDriver } from "./drivers/command.ts";
import { JSON_LINES } from "./drivers/json-lines.ts";
import { localDriver } from "./drivers/local.ts";
import { scriptDriver } from "./drivers/script.ts";
import { textDriver } from "./drivers/text.ts";
import { TuttiError } from "../schema/error.ts";

/** `NAMED` agents have no arguments. */
const NAMED: Record<string, Driver> = { local: localDriver, claude: claudeDriver, codex: codexDriver };
/** `DRIVERS` are for agents with a name that continues after a colon: `command:my-agent`. */
const DRIVERS: Record<string, Driver> = {
  command: commandDriver,
  text: textDriver,
  acp: acpDriver,
  cdp: cdpDriver,
  script: scriptDriver,
};

export function findDriver(agent: string): { driver: Driver; rest: string } {
  if (Object.hasOwn(NAMED, agent)) return { driver: NAMED[agent]!, rest: "" };
  const colon = agent.indexOf(":");
  const kind = colon < 0 ? agent : agent.slice(0, colon);
  const driver = Object.hasOwn(DRIVERS, kind) ? DRIVERS[kind] : undefined;
  if (driver && colon >= 0) return { driver, rest: agent.slice(colon + 1).trim() };
  const names = [...Object.keys(NAMED), ...Object.keys(DRIVERS).map((name) => `${name}:…`)];
  throw new TuttiError(
    "agent_unknown",
    `Agent ${JSON.stringify(agent)} does not exist. Use one of ${names.join(", ")}.`,
  );
}

/** A dialogue writes `JSON_LINES`, so only an agent without one has a decoder of its own. */
export const newDecoder = (driver: Driver): Decoder =>
  "dialogue" in driver ? JSON_LINES.decoder() : driver.coding.decoder();
