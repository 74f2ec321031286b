/** Events carry the time and an HMAC of the time and the body, like Stripe's: `t=1700000000,v1=…`. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { wrongTime } from "../signed-at.ts"

export const signatureHeader = "simulator-signature"

const hmac = (secret: string, seconds: string, body: string) =>
  createHmac("sha256", secret).update(`${seconds}.${body}`).digest()

export const sign = (secret: string, body: string, now: number): string => {
  const seconds = String(Math.floor(now / 1000))
  return `t=${seconds},v1=${hmac(secret, seconds, body).toString("hex")}`
}

/** The error in a signature; undefined if it is valid. */
export const wrongSignature = (
  secret: string,
  body: string,
  header: string | null,
  now: number
): string | undefined => {
  const [, seconds, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? []
  if (seconds === undefined || given === undefined) return "The event carries no signature."
  if (!timingSafeEqual(hmac(secret, seconds, body), Buffer.from(given, "hex"))) return "The event's signature is wrong."
  return wrongTime(Number(seconds), now)
}
