/** What an unknown cause of a failure says. */

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The code of an error of the operating system, such as `ENOENT`; empty for any other cause. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error ? String(Reflect.get(cause, "code") ?? "") : ""
