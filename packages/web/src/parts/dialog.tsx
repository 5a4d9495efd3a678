import { translate } from "../text/language.ts";
import { useId, useLayoutEffect, useRef, type ReactNode } from "react";
import { Icon } from "./icon.tsx";

interface Properties {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** With `showModal` the browser keeps the focus inside, closes the dialog on Escape and returns the focus. */
export function Dialog({ title, onClose, children }: Properties) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  return (
    <dialog
      ref={box}
      className="dialog"
      aria-labelledby={heading}
      onClose={() => {
        onClose();
        // The browser gives the focus back, but to a field without its caret.
        const field = document.activeElement;
        if (!(field instanceof HTMLElement) || field === document.body) return;
        field.blur();
        field.focus({ preventScroll: true });
      }}
      onClick={({ target }) => {
        // Only the backdrop is outside of all `children`.
        if (target === box.current) box.current?.close();
      }}
    >
      <div className="dialog-content">
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button
            type="button"
            className="button-icon"
            aria-label={translate("Close")}
            onClick={() => box.current?.close()}
          >
            <Icon name="cross" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
