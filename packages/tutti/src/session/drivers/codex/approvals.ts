// `Approvals` answers approval requests of Codex, by the run's permissions or by asking the user. Open questions are
// withdrawn when the turn ends.
import { commandRequest, editRequests } from "./item.ts";
import { recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import type { Peer, RequestId } from "./peer.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { OpenQuestions } from "../dialogue-parts.ts";
import { decidePermissions, permissionQuestion, type ToolRequest } from "../../permission.ts";

interface ApprovalsOptions {
  context: Pick<DialogueContext, "permissions" | "cwd" | "resumed" | "emit">;
  peer: Peer;
  /** `itemOf` is needed for file changes, because their requests do not name the files. */
  itemOf(id: string): Fields;
  /** Called with the decision about an item. */
  decided(itemId: string, allowed: boolean): void;
}

interface ApprovalRequest {
  requestId: RequestId;
  itemId: string;
  tools: ToolRequest[];
  reason: string | null;
  answer(allowed: boolean): object;
}

const OPTIONS = ["allow", "refuse"];
const MAX_REASON = 2000;

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #open: OpenQuestions<ApprovalRequest>;
  #count = 0;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#open = new OpenQuestions((line) => options.context.emit(line));
  }

  /** False if `method` is not an approval request. */
  handle(requestId: RequestId, method: string, params: Fields): boolean {
    const request = this.#read(requestId, method, params);
    if (!request) return false;
    const { permissions, cwd } = this.#options.context;
    const ruling = decidePermissions(request.tools, permissions, cwd);
    if (ruling === "ask") this.#ask(request);
    else this.#settle(request, ruling === "allow");
    return true;
  }

  #read(requestId: RequestId, method: string, params: Fields): ApprovalRequest | null {
    const itemId = textOf(params["itemId"]);
    const common = { requestId, itemId, reason: textOrNull(params["reason"]) };
    const answer = (allowed: boolean) => ({ decision: allowed ? "accept" : "decline" });
    switch (method) {
      case "item/commandExecution/requestApproval":
        return { ...common, tools: [commandRequest(params)], answer };
      case "item/fileChange/requestApproval": {
        const tools = editRequests(this.#options.itemOf(itemId), this.#options.context.cwd);
        return { ...common, tools, answer };
      }
      case "item/permissions/requestApproval": {
        const permissions = recordOf(params["permissions"]);
        const requested = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null));
        const tool: ToolRequest = { tool: "Permissions", kind: "other", subject: JSON.stringify(requested) };
        return {
          ...common,
          tools: [tool],
          answer: (allowed) => ({ permissions: allowed ? requested : {}, scope: "turn" }),
        };
      }
      default:
        return null;
    }
  }

  #ask(request: ApprovalRequest): void {
    const { tools, reason } = request;
    const first = { ...tools[0]!, subject: tools.map(({ subject }) => subject).join(", ") };
    const why = reason === null ? "" : `\nReason: ${reason.slice(0, MAX_REASON)}`;
    const { resumed } = this.#options.context;
    const ask = {
      // An answer to a question of an earlier keeper must not fit one of this keeper, hence `resumed.count`.
      id: `approval-${resumed ? `${resumed.count}.` : ""}${++this.#count}`,
      question: `${permissionQuestion(first)}${why}`,
      options: OPTIONS,
      permission: { tool: first.tool, subject: first.subject },
    };
    this.#open.ask(ask, request);
  }

  /** Fails closed: any answer that is not a clear yes declines. */
  answer(askId: string, text: string): void {
    const request = this.#open.take(askId);
    if (request) this.#settle(request, /^(y|yes|ok|allow|allowed)$/i.test(text.trim()));
  }

  #settle(request: ApprovalRequest, allowed: boolean): void {
    this.#options.peer.respond(request.requestId, request.answer(allowed));
    this.#options.decided(request.itemId, allowed);
  }

  /** Codex has resolved the request. It reports this for answered requests too. */
  withdraw(requestId: unknown): void {
    this.#open.withdraw((request) => request.requestId === requestId);
  }

  withdrawAll(): void {
    this.#open.withdraw();
  }
}
