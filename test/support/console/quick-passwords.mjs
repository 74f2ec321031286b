/**
 * Preloaded into a server under test: each password costs it 16 KiB and no time instead of 32 MiB and a third of a second.
 * How passwords are kept is tested in `serve/people/password.test.ts`, and with all of its work by servers that are started
 * without this: those of `console/addresses.test.ts` and of the browser.
 */
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"

const { scrypt } = crypto

crypto.scrypt = (password, salt, length, options, done) =>
  scrypt(password, salt, length, { ...options, N: 16, p: 1 }, done)
syncBuiltinESMExports()
