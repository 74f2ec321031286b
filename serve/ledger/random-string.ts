/** Random letters and digits from the system's generator, each equally likely. */
import { randomInt } from "node:crypto"
import { Effect } from "effect"

/** The order defines the digits 0 to 61 of a key's base62 checksum. */
export const lettersAndDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** `randomInt` avoids the bias of a plain remainder. */
export const randomString = (length: number): string =>
  Array.from({ length }, () => lettersAndDigits[randomInt(lettersAndDigits.length)]).join("")

/** Ids of accounts and keys: 119 random bits, permanent and unique. */
export const randomId = (prefix: "acct_" | "key_") => Effect.sync(() => prefix + randomString(20))
