// `LiveHolders` are the live connections of named tokens. `check` runs every `CHECK_MS` and cuts connections with a
// token that has expired or was revoked, also by another process.
import type { Holder } from "../access/holder.ts";
import type { NamedTokens } from "../access/named-tokens.ts";
import type { Outlet } from "./outlet.ts";

const CHECK_MS = 1000;

interface TokenConnections {
  holder: Holder;
  outlets: Set<Outlet>;
}

export class LiveHolders {
  readonly #tokens: NamedTokens;
  /** Grouped by token id, so that `check` reads each token file once. */
  readonly #byToken = new Map<string, TokenConnections>();
  readonly #timer: NodeJS.Timeout;

  constructor(tokens: NamedTokens) {
    this.#tokens = tokens;
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  add(holder: Holder, outlet: Outlet): void {
    // The server's own token cannot expire or be revoked.
    if (holder.name === null) return;
    const connections = this.#byToken.get(holder.id) ?? { holder, outlets: new Set() };
    this.#byToken.set(holder.id, connections);
    connections.outlets.add(outlet);
    void outlet.closed.then(() => {
      connections.outlets.delete(outlet);
      if (connections.outlets.size === 0) this.#byToken.delete(holder.id);
    });
  }

  check(): void {
    for (const { holder, outlets } of this.#byToken.values()) {
      if (!this.#tokens.isHeld(holder)) for (const outlet of outlets) outlet.cut();
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
