import { resolve } from "node:path";
import { readProjectConfig, readUserConfig, type UserConfig } from "../config/config.ts";
import { targetsOf, testTargets, type TestDelivery } from "../notify/targets-of.ts";
import { DEFAULT_NOTIFICATIONS, type NotificationSettings } from "../notify/notification-settings.ts";
import { NamedTokens } from "../server/access/named-tokens.ts";
import { realWorld } from "../world.ts";

/** `tutti serve` listens on it, and `openDashboard` of another command prefers it. */
export const DEFAULT_PORT = 4517;

/** The configuration of `project` wins over the user's. */
export function readConfig(dataDir: string, project: string) {
  const user = readUserConfig(resolve(dataDir));
  const ofProject = readProjectConfig(project);
  return {
    agent: ofProject.agent ?? user.agent,
    template: ofProject.template ?? user.template,
    agentsOfProject: ofProject.agents,
  };
}

/** Undefined keeps all runs. */
export const readRetention = (dataDir: string): UserConfig["retention"] => readUserConfig(resolve(dataDir)).retention;

export const readNotifications = (dataDir: string): NotificationSettings =>
  readUserConfig(resolve(dataDir)).notifications ?? DEFAULT_NOTIFICATIONS;

export function testNotifications(dataDir: string): Promise<TestDelivery[]> {
  const surroundings = { env: process.env, world: realWorld };
  return testTargets(targetsOf(readNotifications(dataDir), resolve(dataDir), surroundings), surroundings);
}

export const openTokens = (dataDir: string): NamedTokens => new NamedTokens(resolve(dataDir));
