import type { Order, PlanChanges } from "../run/command.ts";
import type { OrderInput, OrderName } from "../schema/api/orders.ts";

/** `start` is no `PlainOrder`, because it also needs the state of the repository. */
type PlainOrder = Exclude<OrderName, "start">;

const COMMANDS: { [Name in PlainOrder]: (input: OrderInput<Name>) => Order } = {
  pause: () => ({ type: "pause" }),
  resume: () => ({ type: "resume" }),
  cancel: () => ({ type: "cancel" }),
  confirm: (input = {}) => ({ type: "confirm", ...planChanges(input) }),
  edit: (input) => ({ type: "edit", ...planChanges(input) }),
  confirmAhead: () => ({ type: "confirmAhead" }),
  requestChanges: ({ text }) => ({ type: "requestChanges", text }),
  decide: ({ decisions }) => ({ type: "decide", decisions }),
  message: ({ text, taskId = null, now }) => ({ type: "message", text, taskId, ...(now ? { now } : {}) }),
  retry: ({ taskId }) => ({ type: "retry", taskId }),
};

function planChanges({ modifications: tasks, hash, ...changes }: OrderInput<"confirm" | "edit"> & object) {
  return {
    changes: { ...changes, ...(tasks && { tasks }) } as PlanChanges,
    ...(hash !== undefined && { hash }),
  };
}

export const orderCommand = <Name extends PlainOrder>(name: Name, input: OrderInput<Name>): Order =>
  COMMANDS[name](input);
