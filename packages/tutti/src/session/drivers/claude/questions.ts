// Questions of the AskUserQuestion tool. One call may contain several: the user gets them one by one, the tool gets all
// answers together.
import { asList, asText, asTexts, type Message } from "./wire.ts";

export interface Question {
  text: string;
  options: string[];
}

export function readQuestions(input: Message): Question[] {
  return asList(input["questions"]).flatMap((each) => {
    const question = asText(each["question"]);
    if (question === "") return [];
    const choices = asList(each["options"]).map((option) => ({
      label: asText(option["label"]),
      description: asText(option["description"]),
    }));
    const described = choices.filter(({ label, description }) => label !== "" && description !== "");
    const lines = described.map(({ label, description }) => `- ${label}: ${description}`);
    const several = each["multiSelect"] === true ? ["You may choose several."] : [];
    return [
      {
        text: [question, ...several, ...lines].join("\n"),
        options: asTexts(choices.map(({ label }) => label)).filter((label) => label !== ""),
      },
    ];
  });
}

/** The tool expects its own input with `answers`, keyed by the text of each question. */
export function withAnswers(input: Message, answers: readonly string[]): Message {
  const questions = asList(input["questions"]).map((each) => asText(each["question"]));
  const answered = questions.filter((question) => question !== "");
  return { ...input, answers: Object.fromEntries(answered.map((question, i) => [question, answers[i] ?? ""])) };
}
