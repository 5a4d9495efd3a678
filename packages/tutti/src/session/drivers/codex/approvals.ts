// What Codex asks before it does it: answered by the run's settings, or put to a person. An open question is taken back
// when its turn is over.
import { commandWish, editWishes } from "./item.ts";
import { recordOf, textOf, type Fields } from "../acp/fields.ts";
import type { Peer, RequestId } from "./peer.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { ruleOn, type PermissionRuling, type ToolWish } from "../../permission.ts";

export interface ApprovalsOptions {
  context: Pick<DialogueContext, "permissions" | "cwd" | "tell">;
  peer: Peer;
  /** The item by its id, as far as it is known; a request alone does not say which files are to be changed. */
  itemOf(id: string): Fields;
  /** What became of an item that was asked for. */
  decided(itemId: string, allowed: boolean): void;
}

interface Wanted {
  requestId: RequestId;
  itemId: string;
  wishes: ToolWish[];
  reason: string | null;
  answer(allowed: boolean): object;
}

const OPTIONS = ["allow", "refuse"];
const STRICTEST: readonly PermissionRuling[] = ["refuse", "ask", "allow"];
const SHOWN = 2000;

export class Approvals {
  readonly #options: ApprovalsOptions;
  /** By the id of the question. */
  readonly #open = new Map<string, Wanted>();
  #asked = 0;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** False if it is nothing that anybody could allow. */
  handle(requestId: RequestId, method: string, params: Fields): boolean {
    const wanted = this.#read(requestId, method, params);
    if (!wanted) return false;
    const { permissions, cwd } = this.#options.context;
    const rulings = wanted.wishes.map((wish) => ruleOn(wish, permissions, cwd));
    const ruling = STRICTEST.find((each) => rulings.includes(each))!;
    if (ruling === "ask") this.#ask(wanted);
    else this.#settle(wanted, ruling === "allow");
    return true;
  }

  #read(requestId: RequestId, method: string, params: Fields): Wanted | null {
    const itemId = textOf(params["itemId"]) ?? "";
    const common = { requestId, itemId, reason: textOf(params["reason"]) };
    const answer = (allowed: boolean) => ({ decision: allowed ? "accept" : "decline" });
    switch (method) {
      case "item/commandExecution/requestApproval":
        return { ...common, wishes: [commandWish(params)], answer };
      case "item/fileChange/requestApproval": {
        const wishes = editWishes(this.#options.itemOf(itemId), this.#options.context.cwd);
        return { ...common, wishes, answer };
      }
      case "item/permissions/requestApproval": {
        const permissions = recordOf(params["permissions"]);
        const asked = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
        const wish: ToolWish = { tool: "Permissions", kind: "other", subject: JSON.stringify(asked) };
        return {
          ...common,
          wishes: [wish],
          answer: (allowed) => ({ permissions: allowed ? asked : {}, scope: "turn" }),
        };
      }
      default:
        return null;
    }
  }

  #ask(wanted: Wanted): void {
    const id = `approval-${++this.#asked}`;
    this.#open.set(id, wanted);
    const subject = wanted.wishes.map((wish) => wish.subject).join(", ");
    this.#options.context.tell({
      type: "ask",
      id,
      question: questionOf(wanted, subject),
      options: OPTIONS,
      permission: { tool: wanted.wishes[0]!.tool, subject },
    });
  }

  /** Whatever is not clearly a yes is a no. */
  answer(askId: string, text: string): void {
    const wanted = this.#open.get(askId);
    if (!wanted) return;
    this.#open.delete(askId);
    this.#settle(wanted, /^(y|yes|ok|allow|allowed)$/i.test(text.trim()));
  }

  #settle(wanted: Wanted, allowed: boolean): void {
    this.#options.peer.respond(wanted.requestId, wanted.answer(allowed));
    this.#options.decided(wanted.itemId, allowed);
  }

  /** Codex no longer wants to know; it says so of answered requests too. */
  withdraw(requestId: unknown): void {
    for (const [id, wanted] of this.#open) if (wanted.requestId === requestId) this.#drop(id);
  }

  withdrawAll(): void {
    for (const id of this.#open.keys()) this.#drop(id);
  }

  #drop(id: string): void {
    this.#open.delete(id);
    this.#options.context.tell({ type: "ask_cancelled", id });
  }
}

function questionOf({ wishes, reason }: Wanted, subject: string): string {
  const { kind, tool } = wishes[0]!;
  const shown = subject.length > SHOWN ? `${subject.slice(0, SHOWN)}…` : subject;
  const wish = kind === "command" ? "run" : kind === "edit" ? "change" : `use ${tool}:`;
  const what = shown === "" ? `May it use ${tool}?` : `May it ${wish} ${shown}`;
  return reason === null ? what : `${what}\nIts reason: ${reason.slice(0, SHOWN)}`;
}
