// The questions of the AskUserQuestion tool. One call may hold several; people get them one after the other, and the tool
// gets all answers together.
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
    const several = each["multiSelect"] === true ? ["Several may be chosen."] : [];
    return [
      {
        text: [question, ...several, ...lines].join("\n"),
        options: asTexts(choices.map(({ label }) => label)).filter((label) => label !== ""),
      },
    ];
  });
}

/** The tool wants its own input back, with an answer under the words of each question. */
export function withAnswers(input: Message, answers: readonly string[]): Message {
  const questions = asList(input["questions"]).map((each) => asText(each["question"]));
  const asked = questions.filter((question) => question !== "");
  return { ...input, answers: Object.fromEntries(asked.map((question, i) => [question, answers[i] ?? ""])) };
}
