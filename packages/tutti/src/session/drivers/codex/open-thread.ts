// `openThread` initializes the connection to a new Codex process, checks the login, then starts or resumes the thread.
import { depthSettings, threadSettings, toolSettings } from "./command.ts";
import type { Peer } from "./peer.ts";
import { recordOf, textOf, textOrNull } from "../../json-fields.ts";
import type { DialogueContext } from "../../dialogue.ts";
import { readVersion } from "../../../own-files.ts";

interface OpenThreadOptions {
  peer: Peer;
  context: Pick<DialogueContext, "cwd" | "permissions" | "subagentDepth" | "model" | "tools" | "fail">;
  /** The thread to resume; null for a new one. */
  threadId: string | null;
  /** Called if the thread cannot be resumed. A new thread follows. */
  onLost: (reason: string) => void;
  onOpen: (thread: { id: string; program: CodexProgram }) => void;
}

interface CodexProgram {
  version: string;
  home: string;
}

/** `START_MS` is long, because programs start slowly when many start at once. */
const START_MS = 3 * 60_000;

/** `turn/diff/updated` would repeat the diff of the whole turn after each step. */
const CAPABILITIES = {
  experimentalApi: false,
  requestAttestation: false,
  optOutNotificationMethods: ["turn/diff/updated"],
};

/** Returns a function that cancels the timeout, for a process that has exited. */
export function openThread({ peer, context, threadId, onLost, onOpen }: OpenThreadOptions): () => void {
  const model = context.model === null ? {} : { model: context.model };
  const config = { ...toolSettings(context.tools.url), ...depthSettings(context.subagentDepth) };
  const settings = { cwd: context.cwd, ...model, ...threadSettings(context.permissions), config };
  const late = setTimeout(() => fail(`Codex did not answer within ${START_MS / 1000} s`), START_MS).unref();
  const fail = (error: string): void => {
    clearTimeout(late);
    context.fail(error);
  };

  const initialize = (): void => {
    const clientInfo = { name: "tutti", title: "Tutti", version: readVersion() };
    peer.request("initialize", { clientInfo, capabilities: CAPABILITIES }, ({ result, error }) => {
      if (error !== null) return fail(`Codex cannot be used: ${error}`);
      peer.notify("initialized");
      // `userAgent` is like "tutti/0.166.0 (Debian 12; x86_64) …": the name of the client and the version of Codex.
      const version = /\/(\S+)/.exec(textOf(result["userAgent"]))?.[1] ?? "unknown";
      checkLogin({ version, home: textOf(result["codexHome"]) });
    });
  };

  /** Without a login Codex would try to reach its provider for minutes. */
  const checkLogin = (program: CodexProgram): void =>
    peer.request("account/read", {}, ({ result }) => {
      if (result && result["account"] === null && result["requiresOpenaiAuth"] === true)
        fail('Codex is not logged in. Run "codex login", or set OPENAI_API_KEY.');
      else if (threadId === null) start(program);
      else resume(threadId, program);
    });

  const resume = (id: string, program: CodexProgram): void =>
    peer.request("thread/resume", { threadId: id, excludeTurns: true, ...settings }, ({ error }) => {
      if (error === null) return opened(id, program);
      onLost(error);
      start(program);
    });

  const start = (program: CodexProgram): void =>
    peer.request("thread/start", settings, ({ result, error }) => {
      if (error !== null) return fail(`Codex did not start a conversation: ${error}`);
      const id = textOrNull(recordOf(result["thread"])["id"]);
      if (id === null) fail("Codex started a conversation without an id");
      else opened(id, program);
    });

  const opened = (id: string, program: CodexProgram): void => {
    clearTimeout(late);
    onOpen({ id, program });
  };

  initialize();
  return () => clearTimeout(late);
}
