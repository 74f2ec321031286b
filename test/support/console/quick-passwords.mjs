/**
 * Preloaded into a server under test: hashing a password takes 16 KiB and no time instead of 32 MiB and a third of a
 * second. The real hashes are tested in `serve/people/password.test.ts`, in `console/addresses.test.ts` and in the browser
 * tests, whose servers do not preload this file.
 */
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"

const { scrypt } = crypto

crypto.scrypt = (password, salt, length, options, done) =>
  scrypt(password, salt, length, { ...options, N: 16, p: 1 }, done)
syncBuiltinESMExports()
