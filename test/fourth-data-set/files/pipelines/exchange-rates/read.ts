/** Reads the daily file. There is one feed: if it cannot be fetched or trusted, nothing is published. */
import { Effect, FileSystem } from "effect"
import { Archive } from "../run/archive/archive.ts"
import { expectErrors } from "../run/files/causes.ts"
import type { OriginError } from "../run/origins/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { parseRateTable, TableUnreadable } from "./decode/rate-table.ts"
import { normalise } from "./normalise/rates.ts"
import { dailyFile, feed } from "./source/daily-file.ts"
import { stageRates } from "./stage/rates.ts"

const unreachable = ({ message: reason }: OriginError) =>
  Effect.fail(new NothingRead({ reasons: [reason], left_out: [{ feed, kind: "unreachable", reason }] }))
const untrusted = ({ message: reason }: Error) =>
  Effect.fail(new ReadFailed({ faults: [reason], left_out: [{ feed, kind: "untrusted", reason }] }))

export const readExchangeRates = Effect.fn("exchangeRates.read")(
  function* (run: RunContext) {
    const fs = yield* FileSystem.FileSystem
    const progress = yield* Progress
    const archive = yield* Archive
    yield* progress.expect(1)
    yield* progress.advance({ started: feed })
    const raw = yield* archive.fetch(dailyFile)
    const text = yield* Effect.orDie(fs.readFileString(raw.path))
    const table = yield* Effect.try({
      try: () => parseRateTable(raw.url, text),
      catch: expectErrors(TableUnreadable)
    })
    const read = normalise(table)
    yield* stageRates(run, raw, read, table.lines.length)
    yield* progress.advance({ finished: feed, rows: table.lines.length })
    const result: ReadResult = {
      rows_read: table.lines.length,
      rows_skipped: read.skipped,
      rows_rejected: read.rejects.length,
      feeds: 1,
      left_out: []
    }
    return result
  },
  Effect.catchTags({
    UpstreamUnavailable: unreachable,
    NotRequested: unreachable,
    AccessDenied: unreachable,
    RefusedByUpstream: unreachable,
    AnswerTooLarge: unreachable,
    GivenUp: unreachable,
    ForbiddenAddress: unreachable,
    NotRecorded: unreachable,
    RecordingUnreadable: untrusted,
    TableUnreadable: untrusted
  })
)
