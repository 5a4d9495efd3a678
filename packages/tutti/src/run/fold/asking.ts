/** Key of `Run.answers`. A null `taskId` is the main session. */
export const asking = (taskId: string | null, question: string): string => `${taskId ?? "main"}: ${question}`;

export const answerNote = (question: string, answer: string): string =>
  `You asked: ${question}\nThe answer is: ${answer}`;
