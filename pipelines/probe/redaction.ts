/**
 * Takes secrets out of what leaves this machine: keys of the settings and what the addresses of a store list carry in their queries
 * and paths, as they are, percent-encoded, and inside of Base64, wherever a source repeats them.
 */
import { Effect, Redacted } from "effect"
import { marsKey } from "../commodities/mars-key.ts"
import { proxies } from "../run/proxies.ts"

export interface Redaction {
  readonly text: (text: string) => string
  readonly bytes: (bytes: Buffer) => Buffer
}

/** The letters of Base64 that a secret decides alone, wherever it begins in what was encoded. */
const insideBase64 = (secret: Buffer) =>
  [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), secret])
      .toString("base64")
      .slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + secret.length) * 8) / 6))
  )

/** As text of one character for each byte. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const encoded = insideBase64(Buffer.from(secret))
  const plain = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  const urlSafe = encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  const escaped = encoded.map((text) => text.replaceAll("/", "\\/")) // as some write JSON
  return [...plain, ...encoded, ...urlSafe, ...escaped].map((text) => Buffer.from(text).toString("latin1"))
}

/** Longer forms go first: one may hold another. */
export const redactionOf = (secrets: ReadonlyArray<string>): Redaction => {
  const known = [...new Set(secrets)].filter((secret) => secret !== "")
  const forms = known
    .flatMap((secret, index) => formsOf(secret).map((form) => ({ form, instead: `redacted-${index + 1}` })))
    .filter(({ form }) => form !== "")
    .sort((a, b) => b.form.length - a.form.length)
  const bytes = (from: Buffer) =>
    Buffer.from(
      forms.reduce((text, { form, instead }) => text.replaceAll(form, instead), from.toString("latin1")),
      "latin1"
    )
  return { bytes, text: (text) => bytes(Buffer.from(text)).toString("utf8") }
}

/** Other values of a query, such as `format=products`, tell what was asked. */
const isSecret = ([name, value]: readonly [string, string]) =>
  (value.length >= 8 && /\d/.test(value)) ||
  value.length >= 20 ||
  (value.length >= 4 && /key|token|secret|pass|sig|auth|code/i.test(name))

/** A path may be a secret itself: whoever knows it may read the feed. Endings such as `.xml` tell a feed's format. */
const secretsOfPath = (path: string) =>
  path
    .split("/")
    .map((part) => part.replace(/(\.[a-z]{1,5}){1,2}$/i, ""))
    .filter((part) => part.length >= 24 || (part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part)))

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // no encoding, as some write a percent sign
  }
}

const secretsOf = (location: string): ReadonlyArray<string> => {
  const url = URL.parse(location)
  if (url === null) return [] // a path of this machine
  const values = [...url.searchParams].filter(isSecret).map(([, value]) => value)
  const user = url.username.length >= 8 ? [url.username] : [] // "me" stands in many words
  const parts = [...secretsOfPath(url.pathname), ...user, url.password]
  return [...values, ...parts.flatMap((part) => [part, decoded(part)])]
}

const locationsIn = (list: string): ReadonlyArray<string> => {
  try {
    const stores: unknown = JSON.parse(list)
    const locations = Array.isArray(stores) ? stores.map((store) => Reflect.get(Object(store), "location")) : []
    return locations.filter((location) => typeof location === "string")
  } catch {
    return [] // a list that cannot be used was not followed
  }
}

/** What the settings hold, and the addresses of a store list, where one was read. */
export const redaction = Effect.fnUntraced(function* (list = "[]") {
  const key = yield* marsKey
  const { http, https } = yield* proxies
  const passwords = [http, https].flatMap((address) => {
    const { password = "", username = "" } = URL.parse(address) ?? {}
    return password === "" ? [] : [password, decodeURIComponent(password), `${username}:${password}`]
  })
  const inAddresses = locationsIn(list).flatMap(secretsOf)
  return redactionOf([...(key === undefined ? [] : [Redacted.value(key)]), ...passwords, ...inAddresses])
})
