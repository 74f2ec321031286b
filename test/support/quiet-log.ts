/**
 * Drops what Effect's default logger prints at level INFO, such as each change of a ledger that a test makes in its own
 * process. Programs under test, and tests of the log, have loggers of their own.
 */
const { log } = console
console.log = (...args) => {
  if (!/^\[[\d:.]+\] INFO /.test(String(args[0]))) log(...args)
}
