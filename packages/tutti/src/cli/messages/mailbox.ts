// `tutti mailbox` is the file mailbox of document 001, for users and for agents that can only start programs.
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { readSource } from "./message-source.ts";
import { readObject } from "../input/read-object.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import type { MailboxLayout } from "../../mailbox/layout.ts";
import { Mailbox } from "../../mailbox/mailbox.ts";
import { TuttiError } from "../../schema/error.ts";
import { realWorld } from "../../world.ts";

interface MailboxFlags {
  dir?: string;
}

interface SendFlags extends MailboxFlags {
  file?: string;
}

interface ReadFlags extends MailboxFlags {
  peek?: boolean;
  all?: boolean;
  task?: string;
  as?: string;
}

interface InitFlags {
  layout?: MailboxLayout;
}

type Received = Awaited<ReturnType<Mailbox["peek"]>>["messages"][number];
type FileProblem = Awaited<ReturnType<Mailbox["peek"]>>["problems"][number];

export async function init(output: Output, dir: string | undefined, flags: InitFlags): Promise<number> {
  mkdirSync(resolve(dir ?? "."), { recursive: true });
  const report = await openMailbox(dir, flags.layout).init();
  output.value(report);
  for (const file of report.made) output.result(`created ${file}`);
  for (const file of report.kept) output.line(`kept ${file}`);
  return 0;
}

export async function send(output: Output, to: string, text: string | undefined, flags: SendFlags): Promise<number> {
  if ((text === undefined) === (flags.file === undefined))
    throw new TuttiError("usage", "There must be exactly one message. Give --file FILE or --json MESSAGE.");
  const message = readObject("message", text ?? (await readWhole(flags.file!)));
  const { file, box, problems, warnings, ...sent } = await openMailbox(flags.dir).send(to, message);
  output.value({ box, file, message: sent.message, warnings, problems });
  for (const { sentence } of warnings) output.warn(sentence);
  showProblems(output, problems);
  output.result(`sent to ${box}: ${file}`);
  return 0;
}

export async function read(output: Output, box: string, flags: ReadFlags): Promise<number> {
  const mailbox = openMailbox(flags.dir);
  const options = {
    ...(flags.task === undefined ? {} : { taskId: flags.task }),
    ...(flags.as === undefined ? {} : { consumer: flags.as }),
  };
  const reading = flags.peek ? await mailbox.peek(box, options) : await mailbox.read(box, options);
  const messages = reading.messages.filter(({ readAt }) => flags.all === true || readAt === null);
  output.value({ ...reading, messages: messages.map(asLine), total: reading.messages.length });
  showProblems(output, reading.problems);
  for (const message of messages) showMessage(output, message);
  if (messages.length === 0) output.line(reading.messages.length === 0 ? "The box is empty." : "No new messages.");
  return 0;
}

export async function clear(output: Output, box: string, flags: MailboxFlags): Promise<number> {
  const report = await openMailbox(flags.dir).clear(box);
  output.value(report);
  showProblems(output, report.problems);
  output.result(`${report.cleared} cleared, archived in ${report.archive}`);
  return 0;
}

/** Prints each message once, also across restarts, until a signal arrives or `isStdoutOpen` is false. */
export async function watch(output: Output, box: string, flags: ReadFlags): Promise<number> {
  return untilInterrupted(async (signal) => {
    const options = {
      signal,
      onProblem: (problem: FileProblem) => showProblems(output, [problem]),
      ...(flags.as === undefined ? {} : { consumer: flags.as }),
    };
    for await (const message of openMailbox(flags.dir).watch(box, options)) {
      output.value(asLine(message));
      showMessage(output, message);
      if (await isStdoutOpen()) continue;
      message.putBack();
      break;
    }
    return 0;
  });
}

function openMailbox(dir: string | undefined, layout?: MailboxLayout): Mailbox {
  const project = resolve(dir ?? ".");
  if (!existsSync(project))
    throw new TuttiError(
      "folder_not_found",
      `Folder "${project}" does not exist. Name an existing project with --dir.`,
    );
  return new Mailbox({ project, world: realWorld, ...(layout === undefined ? {} : { layout }) });
}

/** An empty write fails if the program that reads stdout has ended; `putBack` then keeps the message unread. */
async function isStdoutOpen(): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write("", (error) => resolve(!error)));
}

async function readWhole(name: string): Promise<string> {
  const source = await readSource(name);
  if (source === null)
    throw new TuttiError("usage", `"${name}" is a folder, not a file. Name a file with one message.`);
  if (source.text === null) throw new TuttiError("invalid_input", `"${name}" is not UTF-8 text. Save it as UTF-8.`);
  return source.text;
}

function asLine({ key, file, index, value, problems, readAt }: Received): object {
  return { key, file, index, message: value, readAt, problems };
}

function showMessage(output: Output, { value, problems }: Received): void {
  output.document(JSON.stringify(value, null, 2));
  for (const { sentence } of problems) output.warn(sentence);
}

function showProblems(output: Output, problems: readonly FileProblem[]): void {
  for (const { file, sentence, keptAs } of problems)
    output.warn(`${file}: ${sentence}${keptAs === undefined ? "" : ` The original is kept as ${keptAs}.`}`);
}
