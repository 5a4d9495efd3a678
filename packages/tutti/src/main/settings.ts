// What the person, and a project, have set up.
import { resolve } from "node:path";
import { readProjectConfig, readUserConfig, type UserConfig } from "../config/config.ts";
import { targetsOf, testTargets, type Tested } from "../notify/targets-of.ts";
import { NotificationSettings } from "../schema/notification-settings.ts";
import { NamedTokens } from "../server/named-tokens.ts";
import { realWorld } from "../world.ts";

export { CONFIG_FILE } from "../config/config.ts";

/** What the person's configuration and the project's say together, the nearer one first. */
export function readConfig(dataDir: string, project: string) {
  const own = readUserConfig(resolve(dataDir));
  const theirs = readProjectConfig(project);
  return {
    agent: theirs.agent ?? own.agent,
    template: theirs.template ?? own.template,
    /** What the project calls its agents. */
    agentsOfProject: theirs.agents,
  };
}

/** Which runs that are over the person wants to keep; undefined for all. */
export const readRetention = (dataDir: string): UserConfig["retention"] => readUserConfig(resolve(dataDir)).retention;

/** What the person's configuration says about notifications, or what holds if it says nothing. */
export const readNotifications = (dataDir: string): NotificationSettings =>
  readUserConfig(resolve(dataDir)).notifications ?? NotificationSettings.parse({});

/** Tells everybody whom the person's configuration names that this is a test. */
export function testNotifications(dataDir: string): Promise<Tested[]> {
  const surroundings = { env: process.env, world: realWorld };
  return testTargets(targetsOf(readNotifications(dataDir), resolve(dataDir), surroundings), surroundings);
}

/** The named tokens of a data folder; a server on it reads the same files. */
export const openTokens = (dataDir: string): NamedTokens => new NamedTokens(resolve(dataDir));
