// Live connections that were let in by a named token. A request is judged when it comes; a connection that stays is judged
// again and again, so that a token that was revoked, by whichever process, or has expired is cut off.
import type { Holder } from "./holder.ts";
import type { NamedTokens } from "./named-tokens.ts";
import type { Outlet } from "./outlet.ts";

const CHECK_MS = 1000;

interface Held {
  holder: Holder;
  outlets: Set<Outlet>;
}

export class LiveHolders {
  readonly #tokens: NamedTokens;
  /** By token, because one look at it is enough for all its connections. */
  readonly #held = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;

  constructor(tokens: NamedTokens) {
    this.#tokens = tokens;
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  add(holder: Holder, outlet: Outlet): void {
    // The server's own token lasts as long as the server.
    if (holder.name === null) return;
    const held = this.#held.get(holder.id) ?? { holder, outlets: new Set() };
    this.#held.set(holder.id, held);
    held.outlets.add(outlet);
    void outlet.closed.then(() => {
      held.outlets.delete(outlet);
      if (held.outlets.size === 0) this.#held.delete(holder.id);
    });
  }

  /** Cuts off everybody whose token no longer counts. */
  check(): void {
    for (const { holder, outlets } of this.#held.values()) {
      if (!this.#tokens.isHeld(holder)) for (const outlet of outlets) outlet.cut();
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
