/**
 * Whether the database can be used. Once it is lost, a probe is sent until one succeeds. Calls that were admitted wait
 * meanwhile; new calls are refused.
 */
import type { LedgerUnavailable } from "../../errors.ts"
import { databaseUnavailable } from "../sql/database.ts"

/** Milliseconds between two probes while the database is lost. */
const probeInterval = 100
/** The same while it is not: a server without calls notices an outage, too, and reports that it is not ready. */
const checkInterval = 1_000
/** With a full disk, reads succeed and the next charge is refused, many times a second. */
const diskFullDuration = 1_000

export interface OutageListener {
  readonly lost: (cause: LedgerUnavailable) => void
  readonly restored: () => void
}

export const trackOutage = (options: {
  readonly probe: () => Promise<unknown>
  readonly listener: OutageListener
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly onLost: (cause: LedgerUnavailable) => void
  readonly onRestored: () => void
}) => {
  const { listener, now, onLost, onRestored, probe } = options
  let lost: LedgerUnavailable | undefined
  let diskFullAt = Number.NEGATIVE_INFINITY
  let isFull = false
  let isClosed = false

  const probeUntilRestored = async () => {
    while (!isClosed) {
      try {
        await probe()
        lost = undefined
        listener.restored()
        onRestored()
        return
      } catch (cause) {
        lost = databaseUnavailable("be written")(cause)
      }
      await new Promise((resolve) => setTimeout(resolve, probeInterval))
    }
  }

  /** The first report begins the probes. */
  const report = (cause: LedgerUnavailable): void => {
    if (lost !== undefined) return
    lost = cause
    listener.lost(cause)
    onLost(cause)
    probeUntilRestored()
  }

  let checking: Promise<void> | undefined
  const check = (): Promise<void> => {
    if (lost !== undefined) return Promise.resolve()
    checking ??= probe()
      .then(
        () => {},
        (cause) => report(databaseUnavailable("be written")(cause))
      )
      .finally(() => {
        checking = undefined
      })
    return checking
  }
  const timer = setInterval(check, checkInterval).unref()

  return {
    isLost: (): boolean => lost !== undefined,
    /** Undefined if the database is not lost. */
    cause: (): LedgerUnavailable | undefined => lost,
    /** Whether charges are likely to succeed. */
    isWritable: (): boolean => lost === undefined && now() - diskFullAt > diskFullDuration,
    refuseIfLost: (): void => {
      if (lost !== undefined) throw lost
    },
    report,
    /** Sends a probe, and reports the database as lost if it fails. */
    check,
    reportFull: (cause: LedgerUnavailable): void => {
      listener.lost(cause)
      diskFullAt = now()
      isFull = true
    },
    /** A group was written. */
    recordSuccess: (): void => {
      if (!isFull) return
      isFull = false
      listener.restored()
    },
    close: () => {
      isClosed = true
      clearInterval(timer)
    }
  }
}

export type Outage = ReturnType<typeof trackOutage>
