// `targetsOf` builds the targets of the user's settings, and `testTargets` sends a test notification to each.
import { commandTarget } from "./command-target.ts";
import type { Delivery, NotificationTarget, OutgoingNotification, TargetContext } from "./target.ts";
import { webhookTarget } from "./webhook-target.ts";
import type { NotificationSettings } from "./notification-settings.ts";

/** `commandTarget` runs in `cwd`. */
export function targetsOf(settings: NotificationSettings, cwd: string, context: TargetContext): NotificationTarget[] {
  const { webhooks, command } = settings;
  return [
    ...webhooks.map((webhook) => webhookTarget(webhook, settings, context)),
    ...(command === undefined ? [] : [commandTarget(command, cwd, context.env)]),
  ];
}

export interface TestDelivery extends Delivery {
  target: string;
}

/** One delivery of any target takes less than `LONGEST_MS`. */
const LONGEST_MS = 60_000;

export async function testTargets(
  targets: readonly NotificationTarget[],
  { world }: Pick<TargetContext, "world">,
): Promise<TestDelivery[]> {
  const message: OutgoingNotification = {
    id: `test:${world.id(8)}`,
    kind: "test",
    run: "",
    taskId: null,
    title: "Test notification from Tutti",
    text: "If you can read this, notifications work.",
    request: null,
    at: world.now(),
    item: null,
    outcome: null,
    url: null,
  };
  const never = new AbortController().signal;
  const done = new AbortController();
  // A pending command does not keep the process alive, so `world.sleep` does.
  void world.sleep(LONGEST_MS, done.signal);
  const results = await Promise.all(
    targets.map(async (target) => {
      try {
        return { target: target.name, ...(await target.deliver(message, never)) };
      } catch (error) {
        return { target: target.name, ok: false, detail: (error as Error).message };
      }
    }),
  );
  done.abort();
  return results;
}
