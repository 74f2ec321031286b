/** Secrets in cookies and links. Only their SHA-256 is stored: 256 random bits need no salt. */
import { hash, randomBytes } from "node:crypto"
import { Effect } from "effect"

/** 43 letters, digits, `-` and `_`. */
export const newToken = Effect.sync(() => randomBytes(32).toString("base64url"))

export const hashToken = (token: string): string => hash("sha256", token, "hex")
