import type { World } from "../world.ts";
import type { Notification, NotificationKind } from "../schema/notification.ts";

export interface Delivery {
  ok: boolean;
  /** A few words for the user: the response, or the reason of the failure. Contains no secret. */
  detail: string;
  /** Present if a retry may succeed. `afterMs` is the delay that the receiver asked for, or 0. */
  again?: { afterMs: number };
}

/** A notification as a target receives it. */
export interface OutgoingNotification extends Omit<Notification, "kind"> {
  /** `test` is sent by `tutti notify test` and belongs to no event. */
  kind: NotificationKind | "test";
  /** The run's page in the dashboard, or null without a server. */
  url: string | null;
}

export interface NotificationTarget {
  /** For display, such as `webhook hooks.example.org`. */
  name: string;
  /** Key of the stored position. Null stores none: the target receives only events that happen while it is open. */
  key: string | null;
  /** Whether many notifications of one run are combined into one. True where people read them. */
  combines: boolean;
  deliver(message: OutgoingNotification, signal: AbortSignal): Promise<Delivery>;
}

export interface TargetContext {
  env: Readonly<NodeJS.ProcessEnv>;
  world: World;
}
