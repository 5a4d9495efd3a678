// From a process that has just begun to a conversation that can take turns: the hand-shake, a look whether somebody is
// logged in, and a new thread or the one that there was.
import { readFileSync } from "node:fs";
import { threadSettings } from "./command.ts";
import type { Peer } from "./peer.ts";
import { recordOf, textOf } from "../acp/fields.ts";
import type { DialogueContext } from "../../dialogue.ts";

export interface OpenThreadOptions {
  peer: Peer;
  context: Pick<DialogueContext, "cwd" | "permissions" | "fail">;
  /** The thread to take up again. */
  threadId: string | null;
  /** The thread could not be taken up again; a new one follows. */
  onLost: (reason: string) => void;
  onOpen: (thread: OpenedThread) => void;
}

export interface OpenedThread {
  id: string;
  program: CodexProgram;
}

export interface CodexProgram {
  version: string;
  /** Where it keeps what it needs, as it says itself. */
  home: string;
}

/** Programs are slow to start where many do so at once; one that says nothing at all will not come. */
const START_MS = 3 * 60_000;

/** The difference that a whole turn has made would come again after each of its steps. */
const CAPABILITIES = {
  experimentalApi: false,
  requestAttestation: false,
  optOutNotificationMethods: ["turn/diff/updated"],
};

/** Returns what ends the waiting, for a process that has ended. */
export function openThread({ peer, context, threadId, onLost, onOpen }: OpenThreadOptions): () => void {
  const settings = { cwd: context.cwd, ...threadSettings(context.permissions) };
  const late = setTimeout(() => fail(`Codex did not answer within ${START_MS / 1000} s`), START_MS).unref();
  const fail = (error: string): void => {
    clearTimeout(late);
    context.fail(error);
  };

  const shakeHands = (): void => {
    const clientInfo = { name: "tutti", title: "Tutti", version: readVersion() };
    peer.request("initialize", { clientInfo, capabilities: CAPABILITIES }, ({ result, error }) => {
      if (error !== null) return fail(`Codex cannot be used: ${error}`);
      peer.notify("initialized");
      // "tutti/0.166.0 (Debian 12; x86_64) …": the name is ours, the version its own.
      const version = /\/(\S+)/.exec(textOf(result["userAgent"]) ?? "")?.[1] ?? "unknown";
      checkLogin({ version, home: textOf(result["codexHome"]) ?? "" });
    });
  };

  /** Without a login Codex would try to reach its provider all the same, for minutes. */
  const checkLogin = (program: CodexProgram): void =>
    peer.request("account/read", {}, ({ result }) => {
      if (result && result["account"] === null && result["requiresOpenaiAuth"] === true)
        fail("nobody is logged in to Codex. Run codex login once, or set OPENAI_API_KEY.");
      else if (threadId === null) begin(program);
      else takeUp(threadId, program);
    });

  const takeUp = (id: string, program: CodexProgram): void =>
    peer.request("thread/resume", { threadId: id, excludeTurns: true, ...settings }, ({ error }) => {
      if (error === null) return opened(id, program);
      onLost(error);
      begin(program);
    });

  const begin = (program: CodexProgram): void =>
    peer.request("thread/start", settings, ({ result, error }) => {
      if (error !== null) return fail(`Codex began no conversation: ${error}`);
      const id = textOf(recordOf(result["thread"])["id"]);
      if (id === null) fail("Codex began a conversation without a name");
      else opened(id, program);
    });

  const opened = (id: string, program: CodexProgram): void => {
    clearTimeout(late);
    onOpen({ id, program });
  };

  shakeHands();
  return () => clearTimeout(late);
}

function readVersion(): string {
  const file = new URL("../../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
