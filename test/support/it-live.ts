/** A test with real files and the real clock. It gets its own log lines. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { it } from "@effect/vitest"
import { Effect, type FileSystem, Logger, type Path, type Scope } from "effect"

const toText = (message: unknown) => (Array.isArray(message) ? message : [message]).map(String).join(" ")

export const itLive = <A, E>(
  name: string,
  test: (logs: ReadonlyArray<string>) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path | Scope.Scope>
) =>
  it.live(name, () => {
    const logs: Array<string> = []
    const collect = Logger.make(({ logLevel, message }) => {
      logs.push(`${logLevel}: ${toText(message)}`)
    })
    return test(logs).pipe(Effect.provide([NodeServices.layer, Logger.layer([collect])]))
  })
