/**
 * API keys: `svc_data_` and 64 letters and digits. 58 of them are random (345 bits); the last six are a checksum, the
 * CRC-32 of the 58 in base62, so that scanners can recognise a leaked key offline. The server looks keys up by their
 * fingerprint only. The key itself is shown once and stored nowhere.
 */
import { hash } from "node:crypto"
import { crc32 } from "node:zlib"
import { lettersAndDigits, randomString } from "./random-string.ts"

const prefix = "svc_data_"
const pattern = /^svc_data_([A-Za-z0-9]{58})([A-Za-z0-9]{6})$/

/** Six digits hold any CRC-32: 62 ** 6 is above 2 ** 32. */
const computeChecksum = (characters: string): string => {
  let rest = crc32(characters)
  let digits = ""
  for (let place = 0; place < 6; place++) {
    digits = lettersAndDigits[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

export const newApiKey = (): string => {
  const random = randomString(58)
  return prefix + random + computeChecksum(random)
}

const bearer = /^bearer +(\S+)$/i

/** The key in an `Authorization` header. The scheme is case-insensitive, the key is case-sensitive. */
export const readBearerKey = (authorization: string | null): string | undefined => {
  const token = bearer.exec(authorization ?? "")?.[1]
  return token !== undefined && pattern.test(token) ? token : undefined
}

/** Whether the format and the checksum are valid. Such a key may still not exist. */
export const hasValidChecksum = (key: string): boolean => {
  const [, random, checksum] = pattern.exec(key) ?? []
  return random !== undefined && computeChecksum(random) === checksum
}

/** SHA-256 in hexadecimal. It is stored instead of the key, and keys are looked up by it. */
export const fingerprint = (key: string): string => hash("sha256", key, "hex")

export const last4 = (key: string): string => key.slice(-4)
