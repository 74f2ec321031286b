/** Random letters and digits from the system's generator, each equally likely. */
import { randomInt } from "node:crypto"

/** In the order of the digits 0 to 61 of the base62 checksum of a key. */
export const lettersAndDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** `randomInt` rejects what a plain remainder would favour. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => lettersAndDigits[randomInt(lettersAndDigits.length)]).join("")
