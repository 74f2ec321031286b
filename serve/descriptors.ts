/**
 * Warns when the process has no file descriptor left. Node accepts each further connection with a descriptor that it keeps
 * in reserve, and closes it at once: the client sees an empty response, and no event tells the server.
 */
import { closeSync, openSync } from "node:fs"
import { devNull } from "node:os"
import { Effect } from "effect"

const remedies: Readonly<Record<string, string>> = {
  EMFILE:
    "The process has no file descriptor left, so new connections are closed without a response. Raise its limit: ulimit -n in the shell that starts it, LimitNOFILE= of its systemd service, or --ulimit nofile= of its container.",
  ENFILE:
    "The machine has no file descriptor left, so new connections are closed without a response. Raise its limit: sysctl fs.file-max."
}

/** A failed attempt to open a file needs no descriptor. One that succeeds is over before Node accepts a connection. */
const findRemedy = () => {
  try {
    closeSync(openSync(devNull, "r"))
    return undefined
  } catch (error) {
    return remedies[(error as NodeJS.ErrnoException).code ?? ""] // all errors of node:fs have a code
  }
}

const checkInterval = "1 second"
const warningInterval = "1 minute"

export const watchDescriptors = Effect.gen(function* () {
  const remedy = findRemedy()
  if (remedy !== undefined) yield* Effect.logWarning(remedy)
  yield* Effect.sleep(remedy === undefined ? checkInterval : warningInterval)
}).pipe(Effect.forever, Effect.forkScoped)
