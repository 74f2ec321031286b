/** Ids of accounts and keys. */
import { Effect } from "effect"
import { randomText } from "./random-text.ts"

/** 119 random bits: permanent and unique. */
export const newId = (prefix: "acct_" | "key_") => Effect.sync(() => prefix + randomText(20))
