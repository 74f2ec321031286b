/**
 * Removes secrets from what leaves this machine: keys from the settings, and secrets in the addresses of a store list.
 * They are found as plain text, percent-encoded and inside Base64, including where a source repeats them.
 */
import { Effect, Redacted } from "effect"
import { marsKey } from "../commodities/source/requests.ts"
import { proxies } from "../run/origins/proxies.ts"

export interface Redaction {
  readonly text: (text: string) => string
  readonly bytes: (bytes: Buffer) => Buffer
}

/** Returns the Base64 characters that the secret alone determines, for each alignment in the encoded bytes. */
const encodeBase64Core = (secret: Buffer) =>
  [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), secret])
      .toString("base64")
      .slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6))
  )

/** Returns the encodings in which a secret may occur, as strings with one character per byte. */
const listEncodings = (secret: string): ReadonlyArray<string> => {
  const encoded = encodeBase64Core(Buffer.from(secret))
  const plain = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  const urlSafe = encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  const escaped = encoded.map((text) => text.replaceAll("/", "\\/")) // some JSON writers escape slashes
  return [...plain, ...encoded, ...urlSafe, ...escaped].map((text) => Buffer.from(text).toString("latin1"))
}

/** Longer encodings are replaced first, because one encoding may contain another. */
const redactSecrets = (secrets: ReadonlyArray<string>): Redaction => {
  const known = [...new Set(secrets)].filter((secret) => secret !== "")
  const encodings = known
    .flatMap((secret, index) => listEncodings(secret).map((text) => ({ text, placeholder: `redacted-${index + 1}` })))
    .filter(({ text }) => text !== "")
    .sort((a, b) => b.text.length - a.text.length)
  const bytes = (from: Buffer) =>
    Buffer.from(
      encodings.reduce((whole, { text, placeholder }) => whole.replaceAll(text, placeholder), from.toString("latin1")),
      "latin1"
    )
  return { bytes, text: (text) => bytes(Buffer.from(text)).toString("utf8") }
}

/** Other query values, such as `format=products`, show what was requested, and are kept. */
const isSecret = ([name, value]: readonly [string, string]) =>
  (value.length >= 8 && /\d/.test(value)) ||
  value.length >= 20 ||
  (value.length >= 4 && /key|token|secret|pass|sig|auth|code/i.test(name))

/** A path may be a secret that gives access to the feed. Suffixes such as `.xml` only show the format of the feed. */
const findSecretParts = (path: string) =>
  path
    .split("/")
    .map((part) => part.replace(/(\.[a-z]{1,5}){1,2}$/i, ""))
    .filter((part) => part.length >= 24 || (part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part)))

const decodePercent = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a literal percent sign, not an encoding
  }
}

const findSecrets = (location: string): ReadonlyArray<string> => {
  const url = URL.parse(location)
  if (url === null) return [] // a local path
  const values = [...url.searchParams].filter(isSecret).map(([, value]) => value)
  const user = url.username.length >= 8 ? [url.username] : [] // "me" is part of many words
  const parts = [...findSecretParts(url.pathname), ...user, url.password]
  return [...values, ...parts.flatMap((part) => [part, decodePercent(part)])]
}

const parseLocations = (list: string): ReadonlyArray<string> => {
  try {
    const stores: unknown = JSON.parse(list)
    const locations = Array.isArray(stores) ? stores.map((store) => Reflect.get(Object(store), "location")) : []
    return locations.filter((location) => typeof location === "string")
  } catch {
    return [] // a list that cannot be parsed was not used
  }
}

export const makeRedaction = Effect.fnUntraced(function* (list = "[]") {
  const key = yield* marsKey
  const { http, https } = yield* proxies
  const passwords = [http, https].flatMap((address) => {
    const { password = "", username = "" } = URL.parse(address) ?? {}
    return password === "" ? [] : [password, decodeURIComponent(password), `${username}:${password}`]
  })
  const addressSecrets = parseLocations(list).flatMap(findSecrets)
  return redactSecrets([...(key === undefined ? [] : [Redacted.value(key)]), ...passwords, ...addressSecrets])
})
