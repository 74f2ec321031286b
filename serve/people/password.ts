/**
 * Checks new passwords, and hashes passwords with scrypt at 2^15 × 8 × 3, which is OWASP's minimum: 32 MiB and a
 * quarter of a second each. The stored string contains the parameters, so they can be raised for new passwords. Two
 * hashes run at a time, because Node's thread pool has four threads and the database needs some. The queue is limited;
 * callers beyond the limit get an error with the time to retry. Strangers can fill only a part of the queue, and at
 * most two of them are ahead of any other caller.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer, Semaphore } from "effect"
import { TooManyAttempts, WeakPassword } from "./person.ts"

const defaultParameters = { ln: 15, r: 8, p: 3 }
type Parameters = typeof defaultParameters
const saltBytes = 16
const hashBytes = 32
const maxConcurrency = 2
/** About twelve seconds of work. */
const maxQueued = 100
const maxQueuedStrangers = 60

/** `known` is a browser that the person has signed in with, a signed-in person, or the holder of a one-time link. */
export type CallerTrust = "known" | "stranger"

const deriveHash = (password: string, salt: Buffer, { ln, p, r }: Parameters) =>
  Effect.callback<Buffer>((resume) => {
    const N = 2 ** ln
    const options: ScryptOptions = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 2 ** 20 } // Node's own limit is too low
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error))
    )
  })

const storedFormat = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/
const encodeBase64 = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "")

const formatHash = ({ ln, p, r }: Parameters, salt: Buffer, hash: Buffer) =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${encodeBase64(salt)}$${encodeBase64(hash)}`

const hashPassword = Effect.fnUntraced(function* (password: string, parameters: Parameters) {
  const salt = yield* Effect.sync(() => randomBytes(saltBytes))
  return formatHash(parameters, salt, yield* deriveHash(password, salt, parameters))
})

/** A hash that no password matches. Checking it takes as long as checking a real one. */
const makeUnmatchableHash = (parameters: Parameters) =>
  formatHash(parameters, randomBytes(saltBytes), randomBytes(hashBytes))

const matches = Effect.fnUntraced(function* (password: string, storedHash: string) {
  const [, ln, r, p, salt = "", hash = ""] = storedFormat.exec(storedHash) ?? []
  if (hash === "") return yield* Effect.die(new Error("a stored password hash has an unknown format"))
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) }
  return timingSafeEqual(
    yield* deriveHash(password, Buffer.from(salt, "base64"), parameters),
    Buffer.from(hash, "base64")
  )
})

/** A longer password only costs time to hash; no password manager generates that many characters. */
const maxLength = 200
const minLength = 12

/** What is wrong with the format of a new password; undefined if it is acceptable. */
const findFormatProblem = (password: string, email: string): string | undefined => {
  const characters = [...password.normalize("NFKC")]
  if (characters.length < minLength) return `A password must have at least ${minLength} characters.`
  if (characters.length > maxLength) return `A password must have at most ${maxLength} characters.`
  const lower = password.toLowerCase()
  const [local = "", domain = ""] = email.toLowerCase().split("@")
  const isAddress = [local, domain, email.toLowerCase()].includes(lower)
  return isAddress || lower.includes(email.toLowerCase()) ? "The e-mail address cannot be the password." : undefined
}

/** What is wrong with a new password; undefined if it is acceptable. */
export const findPasswordProblem = Effect.fnUntraced(function* (password: string, email: string) {
  const problem = findFormatProblem(password, email)
  if (problem !== undefined) return problem
  const { isGuessable } = yield* Effect.promise(() => import("./guessable.ts"))
  return isGuessable(password, email)
    ? "This password is easy to guess. Use several unrelated words, or let a password manager generate one."
    : undefined
})

const make = Effect.fnUntraced(function* (parameters: Parameters) {
  const workers = yield* Semaphore.make(maxConcurrency)
  const strangers = yield* Semaphore.make(maxConcurrency) // first, so that at most two strangers queue for the workers
  const unknownPersonHash = yield* Effect.sync(() => makeUnmatchableHash(parameters))
  const waiting = { known: 0, stranger: 0 }
  const isFullFor = (trust: CallerTrust) =>
    waiting.known + waiting.stranger >= maxQueued || (trust === "stranger" && waiting.stranger >= maxQueuedStrangers)
  const enqueue = <A>(work: Effect.Effect<A>, trust: CallerTrust) =>
    Effect.suspend(() => {
      if (isFullFor(trust)) return Effect.fail(new TooManyAttempts({ seconds: 10 }))
      waiting[trust]++
      // a thread continues even if no caller waits for it any more
      const limited = workers.withPermit(Effect.uninterruptible(work))
      return Effect.ensuring(
        trust === "stranger" ? strangers.withPermit(limited) : limited,
        Effect.sync(() => waiting[trust]--)
      )
    })
  return {
    /** Returns the string to store for a new password. Only known callers set a password. */
    hashNew: Effect.fnUntraced(function* (password: string, email: string) {
      const problem = yield* findPasswordProblem(password, email)
      if (problem !== undefined) return yield* new WeakPassword({ problem })
      return yield* enqueue(hashPassword(password, parameters), "known")
    }),
    /** For an unknown person (`storedHash` is undefined) it takes as long, and returns false. */
    isCorrect: (password: string, storedHash: string | undefined, trust: CallerTrust) =>
      // no stored password is this long, so the quick response reveals nothing about any person
      password.length > 4 * maxLength
        ? Effect.succeed(false)
        : Effect.map(
            enqueue(matches(password, storedHash ?? unknownPersonHash), trust),
            (isMatch) => isMatch && storedHash !== undefined
          ),
    /** A string to store that no password matches. */
    unmatchableHash: Effect.sync(() => makeUnmatchableHash(parameters))
  }
})

export class Passwords extends Context.Service<Passwords, Effect.Success<ReturnType<typeof make>>>()(
  "larder/serve/Passwords"
) {
  static readonly layer = Layer.effect(Passwords, make(defaultParameters))
  /** For tests: the hashes are fast to compute, and insecure. */
  static readonly layerTest = Layer.effect(Passwords, make({ ...defaultParameters, ln: 4 }))
}
