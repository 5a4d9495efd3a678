// Answers approval requests of Codex, by the run's permissions or by asking the user. Open questions are withdrawn when
// the turn ends.
import { commandWish, editWishes } from "./item.ts";
import { recordOf, textOf, type Fields } from "../acp/fields.ts";
import type { Peer, RequestId } from "./peer.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { ruleOn, type PermissionRuling, type ToolWish } from "../../permission.ts";

export interface ApprovalsOptions {
  context: Pick<DialogueContext, "permissions" | "cwd" | "tell">;
  peer: Peer;
  /** Needed for file changes, because their requests do not name the files. */
  itemOf(id: string): Fields;
  /** Called with the decision about an item. */
  decided(itemId: string, allowed: boolean): void;
}

interface ApprovalRequest {
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
  readonly #open = new Map<string, ApprovalRequest>();
  #count = 0;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** False if `method` is not an approval request. */
  handle(requestId: RequestId, method: string, params: Fields): boolean {
    const request = this.#read(requestId, method, params);
    if (!request) return false;
    const { permissions, cwd } = this.#options.context;
    const rulings = request.wishes.map((wish) => ruleOn(wish, permissions, cwd));
    const ruling = STRICTEST.find((each) => rulings.includes(each))!;
    if (ruling === "ask") this.#ask(request);
    else this.#settle(request, ruling === "allow");
    return true;
  }

  #read(requestId: RequestId, method: string, params: Fields): ApprovalRequest | null {
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
        const requested = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
        const wish: ToolWish = { tool: "Permissions", kind: "other", subject: JSON.stringify(requested) };
        return {
          ...common,
          wishes: [wish],
          answer: (allowed) => ({ permissions: allowed ? requested : {}, scope: "turn" }),
        };
      }
      default:
        return null;
    }
  }

  #ask(request: ApprovalRequest): void {
    const id = `approval-${++this.#count}`;
    this.#open.set(id, request);
    const subject = request.wishes.map((wish) => wish.subject).join(", ");
    this.#options.context.tell({
      type: "ask",
      id,
      question: questionOf(request, subject),
      options: OPTIONS,
      permission: { tool: request.wishes[0]!.tool, subject },
    });
  }

  /** Fails closed: any answer that is not a clear yes declines. */
  answer(askId: string, text: string): void {
    const request = this.#open.get(askId);
    if (!request) return;
    this.#open.delete(askId);
    this.#settle(request, /^(y|yes|ok|allow|allowed)$/i.test(text.trim()));
  }

  #settle(request: ApprovalRequest, allowed: boolean): void {
    this.#options.peer.respond(request.requestId, request.answer(allowed));
    this.#options.decided(request.itemId, allowed);
  }

  /** Codex has resolved the request. It reports this for answered requests too. */
  withdraw(requestId: unknown): void {
    for (const [id, request] of this.#open) if (request.requestId === requestId) this.#drop(id);
  }

  withdrawAll(): void {
    for (const id of this.#open.keys()) this.#drop(id);
  }

  #drop(id: string): void {
    this.#open.delete(id);
    this.#options.context.tell({ type: "ask_cancelled", id });
  }
}

function questionOf({ wishes, reason }: ApprovalRequest, subject: string): string {
  const { kind, tool } = wishes[0]!;
  const shown = subject.length > SHOWN ? `${subject.slice(0, SHOWN)}…` : subject;
  const action = kind === "command" ? "run:" : kind === "edit" ? "change the file:" : `use ${tool}:`;
  const question = shown === "" ? `May the agent use ${tool}?` : `May the agent ${action} ${shown}`;
  return reason === null ? question : `${question}\nReason: ${reason.slice(0, SHOWN)}`;
}
