// Answers permission requests of the agent, by the run's permissions or by asking the user. Open questions are
// withdrawn when the turn ends.
import type { PermissionOption, PermissionOptionKind, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { nameOf, wishesOf, type ToolCall } from "./tool-call.ts";
import type { AgentLine } from "../../dialogue.ts";
import { ruleOn, type PermissionRuling } from "../../permission.ts";
import type { Permissions } from "../../../schema/permissions.ts";

export interface PermissionDeskOptions {
  permissions: Permissions;
  cwd: string;
  tell(line: AgentLine): void;
}

interface OpenQuestion {
  options: readonly PermissionOption[];
  settle: (chosen: PermissionOption | null) => void;
}

export class PermissionDesk {
  readonly #options: PermissionDeskOptions;
  readonly #open = new Map<string, OpenQuestion>();
  #count = 0;

  constructor(options: PermissionDeskOptions) {
    this.#options = options;
  }

  /** Null if the question was withdrawn or no option fits. */
  async decide(
    call: ToolCall,
    options: readonly PermissionOption[],
    withdrawn: AbortSignal,
  ): Promise<PermissionOption | null> {
    const { permissions, cwd } = this.#options;
    const wishes = wishesOf(call);
    const rulings = wishes.map((wish) => ruleOn(wish, permissions, cwd));
    const ruling = STRICTEST.find((each) => rulings.includes(each))!;
    if (ruling !== "ask") return choose(options, ruling === "allow");
    const { promise, resolve } = Promise.withResolvers<PermissionOption | null>();
    const id = `permission-${++this.#count}`;
    this.#open.set(id, { options, settle: resolve });
    withdrawn.addEventListener("abort", () => this.#withdraw(id), { once: true });
    const subject = wishes.map((wish) => wish.subject).join(", ");
    this.#options.tell({
      type: "ask",
      id,
      question: questionOf(call, subject),
      // A plain approval selects the first allowing option.
      options: options.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(({ name }) => name),
      permission: { tool: nameOf(call), subject },
    });
    return promise;
  }

  answer(id: string, text: string): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    const { options, settle } = question;
    const reply = text.trim().toLowerCase();
    const named = options.find(({ optionId, name }) => [optionId, name].some((each) => each.toLowerCase() === reply));
    // Fails closed: any other answer refuses.
    settle(named ?? choose(options, /^(y|yes|ok|allow|allowed)\b/.test(reply)));
  }

  withdrawAll(): void {
    for (const id of this.#open.keys()) this.#withdraw(id);
  }

  #withdraw(id: string): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    this.#options.tell({ type: "ask_cancelled", id });
    question.settle(null);
  }
}

const ORDER: readonly PermissionOptionKind[] = ["allow_once", "allow_always", "reject_once", "reject_always"];
const STRICTEST: readonly PermissionRuling[] = ["refuse", "ask", "allow"];

/** Prefers the options for this request only: permanent rules belong to the run's permissions. */
function choose(options: readonly PermissionOption[], allow: boolean): PermissionOption | null {
  const kinds: PermissionOptionKind[] = allow ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  return kinds.flatMap((kind) => options.filter((option) => option.kind === kind))[0] ?? null;
}

export const outcomeOf = (chosen: PermissionOption | null): RequestPermissionResponse => ({
  outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" },
});

export const isAllowing = (chosen: PermissionOption | null): boolean =>
  chosen !== null && (chosen.kind === "allow_once" || chosen.kind === "allow_always");

const SHOWN = 2000;

function questionOf(call: ToolCall, subject: string): string {
  const what = subject === "" ? call.title : subject;
  return `May the agent use ${nameOf(call)}${what === "" ? "" : `: ${what.slice(0, SHOWN)}`}?`;
}
