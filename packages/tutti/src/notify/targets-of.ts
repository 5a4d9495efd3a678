// The targets that a person has set up, and a word to each of them to see whether it is heard.
import { commandTarget } from "./command-target.ts";
import type { Delivery, Surroundings, Target, Told } from "./target.ts";
import { webhookTarget } from "./webhook-target.ts";
import type { NotificationSettings } from "../schema/notification-settings.ts";

/** `cwd` is where a command runs. */
export function targetsOf(settings: NotificationSettings, cwd: string, surroundings: Surroundings): Target[] {
  const { webhooks, command } = settings;
  return [
    ...webhooks.map((webhook) => webhookTarget(webhook, settings, surroundings)),
    ...(command === undefined ? [] : [commandTarget(command, cwd, surroundings.env)]),
  ];
}

export interface Tested extends Delivery {
  target: string;
}

/** Longer than any target takes for one try. */
const LONGEST_MS = 60_000;

/** Tells each target that this is a test, once. */
export async function testTargets(
  targets: readonly Target[],
  { world }: Pick<Surroundings, "world">,
): Promise<Tested[]> {
  const told: Told = {
    id: `test:${world.id(8)}`,
    kind: "test",
    run: "",
    taskId: null,
    title: "A test of Tutti's notifications",
    text: "If you can read this, they arrive.",
    request: null,
    at: world.now(),
    item: null,
    outcome: null,
    url: null,
  };
  const never = new AbortController().signal;
  const done = new AbortController();
  // A command that is waited for does not keep a process alive that has nothing else to do.
  void world.sleep(LONGEST_MS, done.signal);
  const tested = await Promise.all(
    targets.map(async (target) => {
      try {
        return { target: target.name, ...(await target.tell(told, never)) };
      } catch (error) {
        return { target: target.name, ok: false, detail: (error as Error).message };
      }
    }),
  );
  done.abort();
  return tested;
}
