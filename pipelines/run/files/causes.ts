/** Message and code of a caught value of unknown type. */

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The system error code, such as `ENOENT`; empty if there is none. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error ? String(Reflect.get(cause, "code") ?? "") : ""
