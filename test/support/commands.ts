/**
 * A process that runs commands of both programs, one after another, for `programs.ts`: loading a program takes as long
 * as most commands. It ends with the process that started it.
 */
import { program as larderIngest } from "@larder/pipelines/cli/program.ts"
import { program as larderServe } from "@larder/serve/cli/program.ts"
import type { Command, Ended } from "./programs.ts"

const programs = { "larder-ingest": larderIngest, "larder-serve": larderServe }

/** Intercepts a stream. The returned function restores the stream and returns what was written to it until then. */
const intercept = (stream: NodeJS.WriteStream) => {
  const pieces: Array<string> = []
  const { write } = stream
  stream.write = (piece: string | Uint8Array, ...others: ReadonlyArray<unknown>) => {
    pieces.push(typeof piece === "string" ? piece : Buffer.from(piece).toString())
    const written = others.find((other) => typeof other === "function")
    if (written !== undefined) process.nextTick(written)
    return true
  }
  return () => {
    stream.write = write
    return pieces.join("")
  }
}

const run = async ({ args, environment, program }: Command): Promise<Omit<Ended, "problems">> => {
  const before = process.env
  process.env = { ...before, ...environment }
  const [stdout, stderr] = [intercept(process.stdout), intercept(process.stderr)]
  try {
    const code = await programs[program].runWith(args)
    return { code, signal: null, stdout: stdout(), stderr: stderr() }
  } finally {
    stdout()
    stderr()
    process.env = before
  }
}

process.on("message", async (command: Command) => {
  process.send?.(await run(command))
})
process.on("disconnect", () => process.exit())
