import type { World } from "../world.ts";
import type { Notification, NotificationKind } from "../schema/notification.ts";

export interface Delivery {
  ok: boolean;
  /** The response, or the reason of the failure, for the user. Contains no secret. */
  detail: string;
  /** Present if a retry may succeed. `afterMs` is the delay that the receiver asked for, or 0. */
  again?: { afterMs: number };
}

export interface OutgoingNotification extends Omit<Notification, "kind"> {
  /** `test` is sent by `tutti notify test` and belongs to no event. */
  kind: NotificationKind | "test";
  /** Null without a server. Else the run's page in the dashboard. */
  url: string | null;
}

export interface NotificationTarget {
  /** For display, for example `webhook hooks.example.org`. */
  name: string;
  /**
   * Under which the position is stored. Null stores none: the target receives only events that happen while it is open.
   */
  key: string | null;
  /** Whether `combine` applies. True where people read the notifications. */
  combines: boolean;
  deliver(message: OutgoingNotification, signal: AbortSignal): Promise<Delivery>;
}

export interface TargetContext {
  env: Readonly<NodeJS.ProcessEnv>;
  world: World;
}
