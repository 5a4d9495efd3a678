// What the agent asks before it uses a tool: answered by the run's settings, or put to a person. An open question is
// taken back when its turn is over.
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
  #asked = 0;

  constructor(options: PermissionDeskOptions) {
    this.#options = options;
  }

  /** The option that is chosen, or null if nobody chose one. */
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
    const id = `permission-${++this.#asked}`;
    this.#open.set(id, { options, settle: resolve });
    withdrawn.addEventListener("abort", () => this.#withdraw(id), { once: true });
    const subject = wishes.map((wish) => wish.subject).join(", ");
    this.#options.tell({
      type: "ask",
      id,
      question: questionOf(call, subject),
      // The first yes is the one that a plain approval means.
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
    const said = text.trim().toLowerCase();
    const named = options.find(({ optionId, name }) => [optionId, name].some((each) => each.toLowerCase() === said));
    // Whatever is not clearly a yes is a no.
    settle(named ?? choose(options, /^(y|yes|ok|allow|allowed)\b/.test(said)));
  }

  /** Nobody is going to be asked any more what is still open. */
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

/** For this once where the agent offers that: what is always allowed is said by the run's settings. */
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
