// Where notifications go, and what came of telling one.
import type { World } from "../world.ts";
import type { Notification, NotificationKind } from "../schema/notification.ts";

export interface Delivery {
  ok: boolean;
  /** A few words for the person: what was answered, or why it failed. Holds no secret. */
  detail: string;
  /** Whether another try may succeed, and how long whoever was asked wants us to wait before it. */
  again?: { afterMs: number };
}

/** A notification as it is told. */
export interface Told extends Omit<Notification, "kind"> {
  /** One that nothing happened for only shows that the way is open. */
  kind: NotificationKind | "test";
  /** Where a person can see more, if there is such a place. */
  url: string | null;
}

export interface Target {
  /** For people: such as `webhook hooks.example.org`. */
  name: string;
  /** What its progress is remembered by; null for one that hears only of what happens while it is there. */
  key: string | null;
  /** Whether it is for people, who want many things of one run at once told as one. */
  sums: boolean;
  tell(told: Told, signal: AbortSignal): Promise<Delivery>;
}

/** What targets take from where they are. */
export interface Surroundings {
  env: Readonly<NodeJS.ProcessEnv>;
  world: World;
}
