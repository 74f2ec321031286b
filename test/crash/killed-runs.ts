/** Runs of `larder-ingest` that are ended at moments which are seen in the folders of their home. */
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { query, temporaryFolder } from "../end-to-end/ingesting.ts"
import { type Ended, ended, start } from "../support/programs.ts"

export const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** What runs have in their staging folders. */
export const staged = (home: string) =>
  namesIn(path.join(home, "staging")).flatMap((run) => namesIn(path.join(home, "staging", run)))

/** All rows of a table in one number, without what differs from run to run. */
export const digestOf = async (home: string, table: string, ...ofRun: ReadonlyArray<string>) => {
  const [rows] = await query(
    home,
    `select count(*) || ' rows, ' || bit_xor(hash(of)) as digest from (select * exclude (${ofRun.join()}) from ${table}) of`
  )
  return rows?.[0]?.digest
}

/** Answers how to tell whether the moment has come in a home. */
export type Moment = (home: string) => () => boolean

export const appears =
  (isThere: (home: string) => boolean): Moment =>
  (home) =>
  () =>
    isThere(home)
export const goes =
  (isThere: (home: string) => boolean): Moment =>
  (home) => {
    let wasThere = false
    return () => {
      const there = isThere(home)
      wasThere ||= there
      return wasThere && !there
    }
  }

/** Runs a pipeline, waits for the moment, and kills. A run that is over before it is seen has ended by itself. */
export const runKilled = async (
  home: string,
  args: ReadonlyArray<string>,
  moment: Moment,
  { delay = 0, signal = "SIGKILL" }: { readonly delay?: number; readonly signal?: NodeJS.Signals } = {}
): Promise<Ended> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = ended(child)
  const hasCome = moment(home)
  while (child.exitCode === null && !hasCome()) await setTimeout(1)
  if (delay > 0) await setTimeout(delay)
  child.kill(signal)
  return end
}

/** A signal is sent before it has arrived: each thread ends its system call first. */
const standsStill = async (pid: number) => {
  if (!existsSync(`/proc/${pid}/task`)) return setTimeout(100)
  const isStopped = (thread: string) => /\) [TtZX] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) await setTimeout(1)
}

export interface Left {
  /** A copy of the home. */
  readonly home: string
  readonly wasRunning: boolean
}

/**
 * What a run leaves if it is killed at each of these moments, in their order. It stands still at each while its home is copied:
 * a kill changes no file. In the end it is killed.
 */
export const leftAt = async (
  home: string,
  args: ReadonlyArray<string>,
  moments: ReadonlyArray<Moment>
): Promise<ReadonlyArray<Left>> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = ended(child)
  const watched = moments.map((moment) => ({ hasCome: moment(home), cameBefore: false }))
  const left: Array<Left> = []
  for (const [index, moment] of watched.entries()) {
    const isRunning = () => child.exitCode === null && child.signalCode === null
    const look = () => {
      for (const later of watched.slice(index)) later.cameBefore ||= later.hasCome()
      return moment.cameBefore
    }
    while (!look() && isRunning()) await setTimeout(1)
    const wasRunning = isRunning()
    if (wasRunning && child.pid !== undefined) {
      child.kill("SIGSTOP")
      await standsStill(child.pid)
    }
    const copy = temporaryFolder()
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
    left.push({ home: copy, wasRunning })
    child.kill("SIGCONT")
  }
  child.kill("SIGKILL")
  await end
  return left
}
