import { translate } from "../text/language.ts";
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { Dialog } from "../parts/dialog.tsx";
import {
  COSTS,
  HOSTS,
  INBOX,
  MACHINE,
  NEW_RUN,
  newRunAddress,
  runAddress,
  RUNS,
  SCHEDULES,
  TEMPLATES,
  type PageRoute,
} from "./page-route.ts";
import { navigate } from "./route.ts";
import { server } from "./server.ts";
import { useLive, useRefusal } from "../live/use-live.ts";
import { isRunOver, type RunStatus } from "../../../tutti/src/schema/status.ts";
import { copyText } from "../text/copy-text.ts";
import { shown } from "../text/safe-text.ts";

interface Command {
  name: string;
  /** The same as a command line, which the foot of the palette copies. */
  line?: string;
  /** The same in other places of the page. */
  keys?: string;
  /** Set for a command that cannot be taken back. It is carried out when it is chosen again. */
  question?: string;
  run: () => unknown;
}

const MOST = 50;

interface Properties {
  route: PageRoute;
  /** Text from before the palette was loaded. */
  typed: RefObject<string>;
  onClose: () => void;
}

export function Palette({ route, typed, onClose }: Properties) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const [note, setNote] = useState("");
  /** Enter was pressed before the palette was loaded. */
  const [isEntered, setEntered] = useState(false);
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLUListElement>(null);
  const listed = useLive((state) => state.runs);
  const runs = listed ?? [];
  const refusal = useRefusal();
  const here = route.view === "run" ? runs.find(({ id }) => id === route.id) : undefined;
  const commands: Command[] = [
    ...(here && refusal === null ? ofRun(here.id, here.status) : []),
    { name: translate("Go to the inbox"), keys: "g i", line: "tutti inbox", run: () => navigate(INBOX) },
    { name: translate("Go to the runs"), keys: "g r", line: "tutti list", run: () => navigate(RUNS) },
    { name: translate("New run"), keys: "g n", line: 'tutti run "REQUEST"', run: () => navigate(NEW_RUN) },
    {
      name: translate("Go to the templates"),
      keys: "g t",
      line: "tutti templates list",
      run: () => navigate(TEMPLATES),
    },
    {
      name: translate("Go to the schedules"),
      keys: "g s",
      line: "tutti schedules list",
      run: () => navigate(SCHEDULES),
    },
    { name: translate("Go to the costs"), keys: "g c", run: () => navigate(COSTS) },
    { name: translate("Check the machine"), keys: "g m", line: "tutti doctor", run: () => navigate(MACHINE) },
    { name: translate("Go to the hosts"), keys: "g h", line: "tutti hosts list", run: () => navigate(HOSTS) },
    ...runs.toReversed().map(({ id, userRequest }) => ({
      name: translate("Open {id}: {userRequest}", { id, userRequest: shown(userRequest, 80) }),
      line: `tutti attach ${id}`,
      run: () => navigate(runAddress(id)),
    })),
  ];
  const wanted = text.toLowerCase().split(/\s+/);
  // `line` is searched, too, because a command line has the same words in every language.
  const isFound = ({ name, line = "" }: Command) => {
    const searched = `${name} ${line}`.toLowerCase();
    return wanted.every((word) => searched.includes(word));
  };
  const found = commands.filter(isFound).slice(0, MOST);
  const chosen = found[Math.min(index, found.length - 1)];
  // Not an effect, which could clear the question of a command that was chosen right after the text was typed.
  const choose = (at: number) => {
    if (at !== index) setNote("");
    setIndex(at);
  };
  const find = (typedText: string) => {
    setText(typedText);
    setIndex(0);
    setNote("");
    setEntered(false);
  };
  useLayoutEffect(() => {
    box.current?.querySelector(".is-chosen")?.scrollIntoView({ block: "nearest" });
  }, [text, index]);
  // `showModal` of the dialog has focused its first button.
  useLayoutEffect(() => {
    field.current?.focus();
    setText(typed.current.replaceAll("\n", ""));
    setEntered(typed.current.endsWith("\n"));
    typed.current = "";
  }, []);

  const use = async (command: Command | undefined) => {
    if (!command) return;
    if (command.question !== undefined && note !== command.question) return setNote(command.question);
    try {
      await command.run();
      // Gives the focus back, and then calls `onClose`.
      box.current?.closest("dialog")?.close();
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error));
    }
  };
  useEffect(() => {
    if (!isEntered || listed === null) return;
    setEntered(false);
    void use(chosen);
  }, [isEntered, listed]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") choose(Math.min(index + 1, found.length - 1));
    else if (event.key === "ArrowUp") choose(Math.max(index - 1, 0));
    // A key that is held down repeats itself, and would answer the question.
    else if (event.key === "Enter") void (event.repeat || use(chosen));
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title={translate("Commands and runs")} onClose={onClose}>
      <input
        ref={field}
        className="field"
        role="combobox"
        aria-label={translate("Find a command or a run")}
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={chosen ? `${list}-${found.indexOf(chosen)}` : undefined}
        placeholder={translate("Find a command or a run")}
        value={text}
        onChange={({ target }) => find(target.value)}
        onKeyDown={onKey}
      />
      <ul ref={box} id={list} className="palette" role="listbox" aria-label={translate("Commands and runs")}>
        {found.map((command, at) => (
          <li
            key={command.name}
            id={`${list}-${at}`}
            role="option"
            aria-selected={command === chosen}
            className={command === chosen ? "is-chosen" : undefined}
            onPointerMove={() => choose(at)}
            onClick={() => void use(command)}
          >
            <span className="clip">{command.name}</span>
            {command.keys !== undefined && <kbd>{command.keys}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="muted">{translate("Nothing found.")}</p>}
      <p className="palette-foot muted" role="status">
        {note !== "" ? (
          note
        ) : chosen?.line === undefined ? (
          ""
        ) : (
          <>
            <code className="clip">{chosen.line}</code>
            <button
              type="button"
              className="button-link is-inline"
              onClick={() => void copyText(chosen.line!).then(() => setNote(translate("Copied.")))}
            >
              {translate("Copy as command")}
            </button>
          </>
        )}
      </p>
    </Dialog>
  );
}

function ofRun(id: string, status: RunStatus): Command[] {
  const order = (word: string, name: "start" | "pause" | "resume" | "cancel"): Command => ({
    name: word,
    line: `tutti ${name} ${id}`,
    ...(name === "cancel" && {
      question: `${translate("Cancel this run? It cannot be resumed.")} ${translate("Choose it again to confirm.")}`,
    }),
    run: () => server.order(id, name),
  });
  const isOver = isRunOver(status);
  return [
    ...(status === "created" ? [order(translate("Start this run"), "start")] : []),
    ...(status === "paused" ? [order(translate("Resume this run"), "resume")] : []),
    ...(!isOver && status !== "paused" && status !== "created" ? [order(translate("Pause this run"), "pause")] : []),
    ...(isOver ? [] : [order(translate("Cancel this run"), "cancel")]),
    {
      name: translate("Show its changes"),
      line: `tutti diff ${id}`,
      run: () => navigate(runAddress(id, { tab: "changes" })),
    },
    { name: translate("Run the same again"), run: () => navigate(newRunAddress({ from: id })) },
    ...(isOver
      ? [
          {
            name: translate("Follow up on its result"),
            line: `tutti run --after ${id} "REQUEST"`,
            run: () => navigate(newRunAddress({ from: id, after: id })),
          },
        ]
      : []),
  ];
}
