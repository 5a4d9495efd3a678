// `readQuestions` reads a call of the AskUserQuestion tool, which may contain several: the user gets them one by one,
// the tool gets all answers together.
import { listOf, textOf, textsOf, type Fields } from "../../json-fields.ts";

export interface Question {
  text: string;
  options: string[];
}

export function readQuestions(input: Fields): Question[] {
  return listOf(input["questions"]).flatMap((each) => {
    const question = textOf(each["question"]);
    if (question === "") return [];
    const choices = listOf(each["options"]).map((option) => ({
      label: textOf(option["label"]),
      description: textOf(option["description"]),
    }));
    const described = choices.filter(({ label, description }) => label !== "" && description !== "");
    const lines = described.map(({ label, description }) => `- ${label}: ${description}`);
    const several = each["multiSelect"] === true ? ["You may choose several."] : [];
    return [
      {
        text: [question, ...several, ...lines].join("\n"),
        options: textsOf(choices.map(({ label }) => label)).filter((label) => label !== ""),
      },
    ];
  });
}

/** The tool expects its own input with `answers`, keyed by the text of each question. */
export function withAnswers(input: Fields, answers: readonly string[]): Fields {
  const questions = listOf(input["questions"]).map((each) => textOf(each["question"]));
  const answered = questions.filter((question) => question !== "");
  return { ...input, answers: Object.fromEntries(answered.map((question, i) => [question, answers[i] ?? ""])) };
}
