import type { Worker } from "node:cluster";
import type { OpsSource } from "./ops.ts";

/** What a supervisor may ask a replica. */
type Question = keyof OpsSource;
type AnswerTo<Q extends Question> = Awaited<ReturnType<OpsSource[Q]>>;

interface Asked {
  readonly ask: Question;
  readonly id: number;
}

interface Answered<Q extends Question> {
  readonly answer: AnswerTo<Q>;
  readonly id: number;
}

let questions = 0;

/**
 * Asks a replica, and waits at most this long, in milliseconds.
 * @returns undefined if the replica does not answer, because it hangs or has ended.
 */
export function ask<Q extends Question>(
  worker: Worker,
  question: Q,
  withinMs: number,
): Promise<AnswerTo<Q> | undefined> {
  const id = ++questions;
  return new Promise((resolve) => {
    const settle = (answer: AnswerTo<Q> | undefined): void => {
      clearTimeout(timer);
      worker.off("message", onMessage);
      worker.off("exit", onExit);
      resolve(answer);
    };
    const onMessage = (message: Partial<Answered<Q>>): void => {
      if (message.id === id) settle(message.answer);
    };
    const onExit = (): void => settle(undefined);
    const timer = setTimeout(() => settle(undefined), withinMs);
    worker.on("message", onMessage);
    worker.on("exit", onExit);
    worker.send({ ask: question, id } satisfies Asked, (error: Error | null) => {
      if (error !== null) settle(undefined);
    });
  });
}

/** Answers the questions of the supervisor, in a process that it has forked. */
export function answerSupervisor(source: OpsSource): void {
  process.on("message", (message: Partial<Asked>) => {
    if (message.ask === undefined) return;
    const { ask: question, id } = message;
    void source[question]().then((answer) => process.send?.({ answer, id }));
  });
}
