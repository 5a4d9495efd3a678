// A part that loads above a control moves it, perhaps while the user presses it. The browser then sends the click to
// an element that contains both places, or on a touch screen to the element that came under the finger.

const CONTROL = ["a", "button", "summary", "label", "input", "select", "textarea", "[role=option]"].join();
/** A pointer that moves further than this leaves the control, which cancels the press. In pixels. */
const SLOP = 8;

/** Sends the click to the control that was pressed. Call it before other listeners of clicks are added. */
export function keepClicks(): void {
  let press: { control: Element; x: number; y: number } | null = null;
  addEventListener(
    "pointerdown",
    ({ target, clientX: x, clientY: y }) => {
      const control = target instanceof Element ? target.closest(CONTROL) : null;
      press = control && { control, x, y };
    },
    { capture: true },
  );
  addEventListener(
    "click",
    (event) => {
      const pressed = press;
      press = null;
      // A key or a program clicks without a pointer, which leaves `detail` 0.
      if (pressed === null || event.detail === 0 || event.composedPath().includes(pressed.control)) return;
      if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > SLOP) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      // It keeps modifier keys, which make other commands of the same control.
      pressed.control.dispatchEvent(new MouseEvent("click", event));
    },
    { capture: true },
  );
}
