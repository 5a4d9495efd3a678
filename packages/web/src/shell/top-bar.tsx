import type { ReactNode } from "react";
import type { Connection } from "../../../tutti/src/client/follow-events.ts";
import { ConnectionMark } from "./connection-mark.tsx";
import { Link } from "./link.tsx";
import { LIST } from "./route.ts";
import { ThemeToggle } from "./theme-toggle.tsx";
import { NotifySwitch } from "../notify/notify-switch.tsx";

export function TopBar({ connection, children }: { connection?: Connection; children?: ReactNode }) {
  return (
    <header className="top-bar">
      <nav className="top-bar-path" aria-label="Breadcrumb">
        <Link to={LIST} className="brand">
          <img src="/favicon.svg" width="20" height="20" alt="" />
          Tutti
        </Link>
        {children}
      </nav>
      {connection && <ConnectionMark connection={connection} />}
      <NotifySwitch />
      <ThemeToggle />
    </header>
  );
}
