/** Rejects with `NotAllowedError` if the browser does not allow it, as `navigator.clipboard` does. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  // A page of another machine over plain HTTP has no `navigator.clipboard`.
  const { activeElement } = document;
  const field = document.createElement("textarea");
  field.value = text;
  // The rest of the page takes no focus while a dialog is open.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (activeElement instanceof HTMLElement) activeElement.focus();
  if (!isCopied) throw new DOMException("", "NotAllowedError");
}
