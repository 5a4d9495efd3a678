import { resolve } from "node:path";
import { readNotifications, testNotifications } from "./settings.ts";
import { readUserConfig } from "../config/config.ts";
import { targetsOf } from "../notify/targets-of.ts";
import type { Rehearsal } from "../schema/api/template-routes.ts";
import type { Machine } from "../server/machine.ts";
import { realWorld } from "../world.ts";

/** A rehearsal takes far less than `REHEARSAL_MS`. */
const REHEARSAL_MS = 120_000;

interface OpenMachine extends Machine {
  /** Aborts rehearsals and waits until their folders are removed. */
  close(): Promise<void>;
}

export function openMachine(dataDir: string, version: string): OpenMachine {
  const folder = resolve(dataDir);
  const closing = new AbortController();
  let lastRehearsal: Promise<unknown> = Promise.resolve();
  return {
    async diagnose() {
      const { diagnose } = await import("../doctor/diagnose.ts");
      return diagnose({ dataDir: folder, version });
    },
    settings() {
      const { agent, template, maxWorkers, agents, server, sessions, retention } = readUserConfig(folder);
      const notifications = readNotifications(folder);
      const targets = targetsOf(notifications, folder, { env: process.env, world: realWorld });
      return {
        version,
        dataDir: folder,
        agent: agent ?? null,
        template: template ?? null,
        maxWorkers: maxWorkers ?? null,
        agents: Object.entries(agents).map(([name, settings]) => ({ name, agent: settings.agent })),
        folders: server?.folders ?? null,
        rateLimit: server?.rateLimit ?? null,
        maxOutputMb: sessions?.maxOutputMb ?? null,
        retention: retention ?? null,
        notifications: {
          on: notifications.on,
          targets: targets.map(({ name }) => name),
          bell: notifications.bell,
        },
      };
    },
    async testNotifications() {
      const deliveries = await testNotifications(folder);
      return deliveries.map(({ target, ok, detail }) => ({ target, ok, detail }));
    },
    rehearse(template, request) {
      // `lastRehearsal` makes them run one at a time: each starts several processes.
      const play = async (): Promise<Rehearsal> => {
        const { rehearseTemplate } = await import("./rehearsal.ts");
        const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(REHEARSAL_MS)]);
        return rehearseTemplate(template, request, signal);
      };
      const rehearsal = lastRehearsal.then(play, play);
      lastRehearsal = rehearsal.catch(() => {});
      return rehearsal;
    },
    async close() {
      closing.abort();
      await lastRehearsal;
    },
  };
}
