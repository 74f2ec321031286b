/** Helpers for caught values of unknown type. */

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The system error code, such as `ENOENT`; empty if there is none. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error ? String(Reflect.get(cause, "code") ?? "") : ""

/** For the `catch` of `Effect.try`: an error of another class is a bug, and becomes a defect. */
export const expectErrors =
  <Expected>(...classes: ReadonlyArray<new (...args: never) => Expected>) =>
  (cause: unknown): Expected => {
    for (const expected of classes) if (cause instanceof expected) return cause
    throw cause
  }
