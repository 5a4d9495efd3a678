const MAX_LENGTH = 60;

/** `templateId` consists of letters, digits and `-`. It ends with a number if the id without one is taken. */
export function templateId(name: string, isTaken: (id: string) => boolean): string {
  const words = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replaceAll(/^-|-$/g, "");
  const id = words === "" ? "template" : words;
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}-${number}`)) number++;
  return `${id}-${number}`;
}
