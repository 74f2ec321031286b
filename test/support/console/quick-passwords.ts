/** The environment of a server that hashes passwords quickly. */
import type { Environment } from "../programs.ts"

const preload = `--import=${new URL("./quick-passwords.mjs", import.meta.url).href}`

/** Keeps what `environment` preloads already. */
export const addQuickPasswords = (environment: Environment): Environment => ({
  ...environment,
  NODE_OPTIONS: [preload, environment.NODE_OPTIONS ?? ""].join(" ")
})
