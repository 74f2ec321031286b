/**
 * Hashes passwords with scrypt at 2^15 × 8 × 3 (32 MiB and a quarter of a second each), which is OWASP's minimum. The
 * stored text contains the parameters, so they can be raised for new passwords. Two hashes run at a time, because
 * Node's thread pool has four threads and the database needs some. The queue is limited; requests beyond the limit are
 * told to try again. Strangers can fill only a part of the queue, and no other request waits behind more than two of
 * theirs.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer, Semaphore } from "effect"
import { TooManyAttempts, WeakPassword } from "./people.ts"

const chosen = { ln: 15, r: 8, p: 3 }
type Parameters = typeof chosen
const saltBytes = 16
const hashBytes = 32
const atOnce = 2
/** About twelve seconds of work. */
const mostWaiting = 100
const mostStrangersWaiting = 60

/** `known` is a browser that the person has signed in with, a signed-in person, or the holder of a one-time link. */
export type Asker = "known" | "stranger"

const derived = (password: string, salt: Buffer, { ln, p, r }: Parameters) =>
  Effect.callback<Buffer>((resume) => {
    const N = 2 ** ln
    const options: ScryptOptions = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 2 ** 20 } // Node's own limit is too low
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

const stored = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/
const unpadded = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "")

const textOf = ({ ln, p, r }: Parameters, salt: Buffer, hash: Buffer) =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`

const hashed = Effect.fnUntraced(function* (password: string, parameters: Parameters) {
  const salt = yield* Effect.sync(() => randomBytes(saltBytes))
  return textOf(parameters, salt, yield* derived(password, salt, parameters))
})

/** No password matches it, and a check takes as much work as for a real one. */
const nobodys = (parameters: Parameters) => textOf(parameters, randomBytes(saltBytes), randomBytes(hashBytes))

const matches = Effect.fnUntraced(function* (password: string, kept: string) {
  const [, ln, r, p, salt = "", hash = ""] = stored.exec(kept) ?? []
  if (hash === "") return yield* Effect.die(new Error("a stored password is not readable"))
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) }
  return timingSafeEqual(yield* derived(password, Buffer.from(salt, "base64"), parameters), Buffer.from(hash, "base64"))
})

/** A longer text would only cost work; this is more than any password manager generates. */
const longest = 200
const shortest = 12

/** What is wrong with the form of a new password; undefined if it is acceptable. */
const malformationOf = (password: string, email: string): string | undefined => {
  const characters = [...password.normalize("NFKC")]
  if (characters.length < shortest) return `A password has at least ${shortest} characters.`
  if (characters.length > longest) return `A password has at most ${longest} characters.`
  const lower = password.toLowerCase()
  const [local = "", domain = ""] = email.toLowerCase().split("@")
  const isAddress = [local, domain, email.toLowerCase()].includes(lower)
  return isAddress || lower.includes(email.toLowerCase()) ? "The e-mail address cannot be the password." : undefined
}

/** What is wrong with a new password; undefined if it is acceptable. */
export const weaknessOf = Effect.fnUntraced(function* (password: string, email: string) {
  const malformation = malformationOf(password, email)
  if (malformation !== undefined) return malformation
  const { isGuessable } = yield* Effect.promise(() => import("./guessable.ts"))
  return isGuessable(password, email)
    ? "This password is easy to guess. Take several words that do not belong together, or let a password manager make one."
    : undefined
})

interface Work {
  /** Returns the text to store for a new password. Strangers do not choose one. */
  readonly keep: (password: string, email: string) => Effect.Effect<string, WeakPassword | TooManyAttempts>
  /** Whether the password is right. For an unknown person (`kept` is undefined) it takes as long, and returns false. */
  readonly isRight: (
    password: string,
    kept: string | undefined,
    asker: Asker
  ) => Effect.Effect<boolean, TooManyAttempts>
  /** A text to store that no password matches. */
  readonly nobodys: Effect.Effect<string>
}

const make = Effect.fnUntraced(function* (parameters: Parameters) {
  const workers = yield* Semaphore.make(atOnce)
  const strangers = yield* Semaphore.make(atOnce) // first, so that at most two strangers queue for the workers
  const noPassword = yield* Effect.sync(() => nobodys(parameters)) // for an unknown person
  const waiting = { known: 0, stranger: 0 }
  const isFullFor = (asker: Asker) =>
    waiting.known + waiting.stranger >= mostWaiting ||
    (asker === "stranger" && waiting.stranger >= mostStrangersWaiting)
  const queued = <A>(work: Effect.Effect<A>, asker: Asker) =>
    Effect.suspend(() => {
      if (isFullFor(asker)) return Effect.fail(new TooManyAttempts({ seconds: 10 }))
      waiting[asker]++
      // a thread continues even if no caller waits for it any more
      const done = workers.withPermit(Effect.uninterruptible(work))
      return Effect.ensuring(
        asker === "stranger" ? strangers.withPermit(done) : done,
        Effect.sync(() => waiting[asker]--)
      )
    })
  return Passwords.of({
    keep: Effect.fnUntraced(function* (password, email) {
      const problem = yield* weaknessOf(password, email)
      if (problem !== undefined) return yield* new WeakPassword({ problem })
      return yield* queued(hashed(password, parameters), "known")
    }),
    isRight: (password, kept, asker) =>
      // no stored password is this long, so the quick answer reveals nothing about any person
      password.length > 4 * longest
        ? Effect.succeed(false)
        : Effect.map(queued(matches(password, kept ?? noPassword), asker), (is) => is && kept !== undefined),
    nobodys: Effect.sync(() => nobodys(parameters))
  })
})

export class Passwords extends Context.Service<Passwords, Work>()("larder/serve/Passwords") {
  static readonly layer = Layer.effect(Passwords, make(chosen))
  /** Hashing costs next to nothing, and so does guessing. */
  static readonly layerTest = Layer.effect(Passwords, make({ ...chosen, ln: 4 }))
}
