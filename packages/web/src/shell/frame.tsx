import { translate } from "../text/language.ts";
import { Suspense, useEffect, useLayoutEffect, useState, type ReactNode, useRef } from "react";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { ConnectionMark } from "./connection-mark.tsx";
import type { IconName } from "../parts/icon-shapes.ts";
import { Icon } from "../parts/icon.tsx";
import { TypeAhead } from "./type-ahead.tsx";
import { isTyping } from "./keys.ts";
import { Link } from "./link.tsx";
import { Notice } from "../parts/notice.tsx";
import { COSTS, HOSTS, INBOX, MACHINE, NEW_RUN, RUNS, SCHEDULES, TEMPLATES, type PageRoute } from "./page-route.ts";
import { navigate } from "./route.ts";
import { LanguageToggle } from "./language-toggle.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";
import { useLive } from "../live/use-live.ts";
import { NotifySwitch } from "../notify/notify-switch.tsx";
import { lazyPart } from "./lazy-part.ts";
import { copyText } from "../text/copy-text.ts";

const Palette = lazyPart(async () => (await import("./palette.tsx")).Palette);
const ShortcutHelp = lazyPart(async () => (await import("./shortcut-help.tsx")).ShortcutHelp);

const PLACES: { to: string; name: string; icon: IconName; view: PageRoute["view"]; key: string }[] = [
  { to: INBOX, name: translate("Inbox#place"), icon: "inbox", view: "inbox", key: "i" },
  { to: RUNS, name: translate("Runs#place"), icon: "list", view: "runs", key: "r" },
  { to: NEW_RUN, name: translate("New run#place"), icon: "plus", view: "new", key: "n" },
  { to: TEMPLATES, name: translate("Templates"), icon: "file", view: "templates", key: "t" },
  { to: SCHEDULES, name: translate("Schedules"), icon: "clock", view: "schedules", key: "s" },
  { to: COSTS, name: translate("Costs"), icon: "coins", view: "costs", key: "c" },
  { to: MACHINE, name: translate("Machine"), icon: "tool", view: "machine", key: "m" },
  { to: HOSTS, name: translate("Hosts"), icon: "branch", view: "hosts", key: "h" },
];

const COPIED_MS = 3000;

interface OpenedDialog {
  name: "palette" | "help";
  /** Another one for each time that a dialog is opened. */
  key: number;
}

export function Frame({ route, children }: { route: PageRoute; children: ReactNode }) {
  const inbox = useLive((state) => state.inbox);
  const connection = useLive((state) => state.connection);
  const access = useLive((state) => state.access);
  const isOutdated = useLive((state) => state.isOutdated);
  const [opened, setOpened] = useState<OpenedDialog | null>(null);
  const latest = useRef(opened);
  latest.current = opened;
  const opens = useRef(0);
  const [copied, setCopied] = useState("");
  const typed = useRef("");

  const open = (name: OpenedDialog["name"]) => setOpened({ name, key: ++opens.current });
  // The `close` event of a dialog comes a frame later, when another one may be open.
  const close = () => setOpened((now) => (now?.key === opened?.key ? null : now));
  const toggle = (name: OpenedDialog["name"]) => {
    const dialog = document.querySelector("dialog");
    const wasOpen = dialog?.open === true;
    dialog?.close();
    if (latest.current?.name !== name) return open(name);
    // The `close` event removes the dialog. One that was closed just before is still there, and opens again.
    if (wasOpen) return;
    if (dialog === null) setOpened(null);
    else open(name);
  };

  useLayoutEffect(() => {
    // `pressed` is the first key of a pair such as `g i`, which goes to the inbox.
    let pressed = "";
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if ((ctrlKey || metaKey) && key.toLowerCase() === "k") {
        event.preventDefault();
        return toggle("palette");
      }
      if (ctrlKey || metaKey || altKey || isTyping(event)) return;
      if (key === "?") return toggle("help");
      const place = pressed === "g" ? PLACES.find((each) => each.key === key) : undefined;
      if (key === "c" && pressed !== "g") copy(event);
      pressed = key;
      if (place) navigate(place.to);
    };
    const onClick = (event: MouseEvent) => {
      if (!event.altKey || !copy(event)) return;
      event.stopPropagation();
      event.preventDefault();
    };
    const copy = ({ target }: Event): boolean => {
      const command = target instanceof Element && target.closest<HTMLElement>("[data-command]")?.dataset["command"];
      if (!command) return false;
      void copyText(command).then(
        () => setCopied(command),
        () => {},
      );
      return true;
    };
    addEventListener("keydown", onKey);
    // Before the button itself, which would carry out the order.
    addEventListener("click", onClick, { capture: true });
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("click", onClick, { capture: true });
    };
  }, []);

  useEffect(() => {
    if (copied === "") return;
    const timer = setTimeout(() => setCopied(""), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <>
      <p className={copied === "" ? "visually-hidden" : "copied"} role="status">
        {copied !== "" && translate("Copied: {text}", { text: copied })}
      </p>
      <a className="skip-link" href="#content">
        {translate("Skip to the content")}
      </a>
      <nav className="rail" aria-label={translate("Places")}>
        {PLACES.map(({ to, name, icon, view }) => (
          <Link
            key={to}
            to={to}
            className={`rail-place${view === route.view || (view === "runs" && route.view === "run") ? " is-here" : ""}`}
            current={view === route.view}
          >
            <Icon name={icon} size={18} />
            <span>{name}</span>
            {view === "inbox" && inbox.length > 0 && (
              <span className="rail-count">
                {inbox.length}
                <span className="visually-hidden"> {translate("waiting")}</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <header className="top-bar">
        <Link to={INBOX} className="brand">
          <img src="/favicon.svg" width="20" height="20" alt="" />
          Tutti
        </Link>
        {route.view === "run" && (
          <span className="top-bar-path">
            <span className="path-mark" aria-hidden="true">
              /
            </span>
            <span className="mono clip">{route.id}</span>
          </span>
        )}
        <span className="push" />
        {access?.role === "view" && <span className="chip">{translate("View only")}</span>}
        <ConnectionMark connection={connection} />
        <button
          type="button"
          className="button-icon"
          aria-label={translate("Commands and runs (Ctrl+K)")}
          title={translate("Commands and runs (Ctrl+K)")}
          onClick={() => open("palette")}
        >
          <Icon name="search" />
        </button>
        <NotifySwitch />
        <LanguageToggle />
        <ThemeToggle />
      </header>
      {isOutdated && (
        <div className="frame-notice">
          <Notice tone="warning">
            {translate("The server runs another version of Tutti now.")}{" "}
            <button type="button" className="button-link is-inline" onClick={() => location.reload()}>
              {translate("Reload this page")}
            </button>
          </Notice>
        </div>
      )}
      <div className="frame-notice">
        <ErrorBoundary key={opened?.key} part={translate("This dialog")}>
          <Suspense fallback={<TypeAhead typed={opened?.name === "palette" ? typed : null} onClose={close} />}>
            {opened?.name === "palette" && <Palette route={route} typed={typed} onClose={close} />}
            {opened?.name === "help" && <ShortcutHelp onClose={close} />}
          </Suspense>
        </ErrorBoundary>
      </div>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
