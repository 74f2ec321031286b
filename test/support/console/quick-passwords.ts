/** Settings of a server whose passwords cost nothing. */
import type { Environment } from "../programs.ts"

const preload = `--import=${new URL("./quick-passwords.mjs", import.meta.url).href}`

/** `given`, which may preload something else, too. */
export const withQuickPasswords = (given: Environment): Environment => ({
  ...given,
  NODE_OPTIONS: [preload, given.NODE_OPTIONS ?? ""].join(" ")
})
