// The session bridge of a page, as JavaScript source: sessions, transcripts, and an agent that executes its prompt, a
// list of steps in JSON.

/** The steps of a prompt; `raw` adds any value to the transcript. */
export type Step =
  | ["say", string]
  | ["tool", string, unknown]
  | ["usage", number, number]
  | ["ask", string, unknown]
  | ["hang"]
  | ["repeat", number]
  | ["raw", unknown];

export const steps = (...list: Step[]): string => JSON.stringify(list);

/**
 * A function of its options: `bridge` is `window` or `desktop`, `without` names omitted methods. It needs only a global
 * object.
 */
export const BRIDGE = String.raw`function (options) {
  const sessions = new Map();
  const listeners = new Set();
  const answers = new Map();
  globalThis.calls = [];
  let count = 0;
  const changed = () => listeners.forEach((listener) => listener({ type: "changed" }));
  const push = (session, entry) => { session.transcript.push(entry); changed(); };
  const uuid = () => "message-" + ++count;
  const pause = () => new Promise((done) => setTimeout(done, 10));
  const speak = (session, content, more) =>
    push(session, { type: "assistant", uuid: uuid(), message: { role: "assistant", content, ...more } });

  async function act(session, text) {
    push(session, { type: "user", uuid: uuid(), message: { role: "user", content: text } });
    session.running = true;
    changed();
    for (const [kind, ...args] of JSON.parse(text.slice(text.indexOf("[[")))) {
      await pause();
      if (session.stopped) break;
      if (kind === "say") speak(session, [{ type: "text", text: args[0] }]);
      if (kind === "repeat") speak(session, [{ type: "text", text: "z".repeat(args[0]) }]);
      if (kind === "tool") {
        speak(session, [{ type: "tool_use", name: args[0], input: args[1] }]);
        push(session, { type: "user", uuid: uuid(), message: { content: [{ type: "tool_result", content: "done" }] } });
      }
      if (kind === "usage")
        for (const part of ["a", "b"])
          speak(session, [{ type: "text", text: part }], { id: "answer-" + args[0], usage: { input_tokens: args[0], output_tokens: args[1] } });
      if (kind === "raw") push(session, args[0]);
      if (kind === "hang") while (!session.stopped) await pause();
      if (kind === "ask") {
        const requestId = "request-" + ++count;
        session.pending.push({ requestId, toolName: args[0], input: args[1] });
        changed();
        const answer = await new Promise((done) => answers.set(requestId, done));
        session.pending = session.pending.filter((each) => each.requestId !== requestId);
        speak(session, [{ type: "text", text: "the answer was " + answer }]);
      }
    }
    session.running = false;
    session.stopped = false;
    changed();
  }

  const begin = (cwd, title, text) => {
    const id = "local_" + ++count;
    const session = { id, cwd, title, transcript: [], running: false, stopped: false, pending: [] };
    sessions.set(id, session);
    void act(session, text);
    return { sessionId: id };
  };
  const shown = ({ id, cwd, title, running, pending }) => ({ id, cwd, title, isRunning: running, pendingToolPermissions: pending });
  const both = {
    getTranscript: (id) => sessions.get(id).transcript,
    sendMessage: (id, text) => void act(sessions.get(id), text),
    getSession: (id) => shown(sessions.get(id)),
    respondToToolPermission: (requestId, choice) => void answers.get(requestId)(choice),
    onEvent: (listener) => { listeners.add(listener); return () => listeners.delete(listener); },
  };
  const ofWindow = {
    startNewSessionWithMessage: (cwd, text, { title }) => begin(cwd, title, text),
    archiveSession: (id) => void (sessions.get(id).archived = true),
    interruptSession: (id) => void (sessions.get(id).stopped = true),
    listSessions: () => [...sessions.values()].map(shown),
  };
  const ofDesktop = {
    start: ({ cwd, message, title }) => begin(cwd, title, message),
    archive: ofWindow.archiveSession,
    interrupt: ofWindow.interruptSession,
    getAll: ofWindow.listSessions,
  };
  const desktop = options.bridge === "desktop";
  const holder = desktop ? {} : globalThis;
  if (desktop) globalThis["claude.web"] = { LocalSessions: holder };
  const left = (options.without ?? "").split(",");
  for (const [name, method] of Object.entries({ ...both, ...(desktop ? ofDesktop : ofWindow) })) {
    if (left.includes(name)) continue;
    holder[name] = async (...args) => {
      if (!/^get|^list|^on/.test(name)) calls.push([name, ...args]);
      return method(...args);
    };
  }
  globalThis.listening = () => listeners.size;
}`;
