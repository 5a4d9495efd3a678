// `PermissionDesk` answers permission requests of the agent, by the run's permissions or by asking the user. Open
// questions are withdrawn when the turn ends.
import type { PermissionOption, PermissionOptionKind, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { nameOf, requestsOf, type ToolCall } from "./tool-call.ts";
import { OpenQuestions } from "../dialogue-parts.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { decidePermissions } from "../../permission.ts";

type PermissionDeskOptions = Pick<DialogueContext, "permissions" | "cwd" | "emit">;

interface OpenQuestion {
  options: readonly PermissionOption[];
  settle: (chosen: PermissionOption | null) => void;
}

export class PermissionDesk {
  readonly #options: PermissionDeskOptions;
  readonly #open: OpenQuestions<OpenQuestion>;
  #count = 0;

  constructor(options: PermissionDeskOptions) {
    this.#options = options;
    this.#open = new OpenQuestions((line) => options.emit(line));
  }

  /** Returns null if the question was withdrawn or no option fits. */
  async decide(
    call: ToolCall,
    options: readonly PermissionOption[],
    withdrawn: AbortSignal,
  ): Promise<PermissionOption | null> {
    const { permissions, cwd } = this.#options;
    const requests = requestsOf(call);
    const ruling = decidePermissions(requests, permissions, cwd);
    if (ruling !== "ask") return choose(options, ruling === "allow");
    const { promise, resolve } = Promise.withResolvers<PermissionOption | null>();
    const subject = requests.map((request) => request.subject).join(", ");
    const open = { options, settle: resolve };
    withdrawn.addEventListener("abort", () => this.#withdraw(open), { once: true });
    const ask = {
      id: `permission-${++this.#count}`,
      question: questionOf(call, subject),
      // A plain approval selects the first allowing option, so `ORDER` puts those first.
      options: options.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(({ name }) => name),
      permission: { tool: nameOf(call), subject },
    };
    this.#open.ask(ask, open);
    return promise;
  }

  answer(id: string, text: string): void {
    const question = this.#open.take(id);
    if (!question) return;
    const { options, settle } = question;
    const reply = text.trim().toLowerCase();
    const named = options.find(({ optionId, name }) => [optionId, name].some((each) => each.toLowerCase() === reply));
    // Fails closed: any other answer refuses.
    settle(named ?? choose(options, /^(y|yes|ok|allow|allowed)\b/.test(reply)));
  }

  withdrawAll(): void {
    this.#withdraw(null);
  }

  /** `#withdraw(null)` withdraws all questions. */
  #withdraw(only: OpenQuestion | null): void {
    for (const { settle } of this.#open.withdraw((each) => only === null || each === only)) settle(null);
  }
}

const ORDER: readonly PermissionOptionKind[] = ["allow_once", "allow_always", "reject_once", "reject_always"];

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
