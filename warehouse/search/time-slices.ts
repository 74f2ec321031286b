/** Runs long reads in time slices, round-robin. All reads share one slice per iteration of the event loop. */
import { Effect } from "effect"

/** How long searches may block the event loop per iteration, in ms. */
const slice = 4
/** Minimum part of the slice for waiting reads, in ms, even if a new read has used up the slice. */
const minForWaiting = 1

/** In round-robin order. Each runs at least one step of its read, until it ends or the slice is used up. */
const waitingReads = new Set<() => void>()
/** Time used in the current iteration of the event loop, in ms. */
let usedTime = 0
let isRoundScheduled = false

const scheduleRound = () => {
  if (isRoundScheduled) return
  isRoundScheduled = true
  setImmediate(runRound)
}

const runRound = () => {
  isRoundScheduled = false
  usedTime = Math.min(usedTime, slice - minForWaiting)
  for (const advance of waitingReads) {
    waitingReads.delete(advance) // it adds itself again, after the others, if it is not done
    advance()
    if (usedTime >= slice) break
  }
  usedTime = 0
  if (waitingReads.size > 0) scheduleRound()
}

const runStep = <A>(steps: Generator<void, A>) => {
  try {
    const { done, value } = steps.next()
    return done === true ? Effect.succeed(value) : undefined
  } catch (error) {
    return Effect.die(error) // the files were checked when they were opened
  }
}

/**
 * Runs a generator, which is suspended at yields if needed. A read that begins while the slice lasts waits only for reads
 * that began before it.
 */
export const runInSlices = <A>(begin: () => Generator<void, A>) =>
  Effect.callback<A>((resume) => {
    const steps = begin()
    const advance = () => {
      const startedAt = performance.now()
      const latest = startedAt + slice - usedTime
      let result = runStep(steps)
      while (result === undefined && performance.now() < latest) result = runStep(steps)
      usedTime += performance.now() - startedAt // before `resume`, which may start the next search of the same caller
      if (result === undefined) waitingReads.add(advance)
      else resume(result)
    }
    scheduleRound()
    if (usedTime < slice && waitingReads.size === 0) advance()
    else waitingReads.add(advance)
    return Effect.sync(() => waitingReads.delete(advance))
  })
