/** Runs long reads in time slices. All reads of the process share one slice per turn of the event loop, round-robin. */
import { Effect } from "effect"

/** How long searches may block the event loop per turn, in ms. */
const slice = 4
/** Minimum part of the slice for waiting reads, in ms, even if new reads keep arriving. */
const minForWaiting = 1

interface Reading {
  /** Runs one step. Returns true if it was the last. */
  readonly step: () => boolean
  readonly end: () => void
  readonly fail: (error: unknown) => void
}

/** In round-robin order. */
const waiting = new Set<Reading>()
/** Time used in the current turn of the event loop, in ms. */
let spent = 0
let isTurnPlanned = false

/** Runs at least one step of a read, until it ends or the slice is used up. */
const advance = (reading: Reading) => {
  const startedAt = performance.now()
  const latest = startedAt + slice - spent
  let isDone = false
  let now = startedAt
  try {
    do {
      isDone = reading.step()
      now = performance.now()
    } while (!isDone && now < latest)
  } catch (error) {
    spent += performance.now() - startedAt
    return reading.fail(error)
  }
  spent += now - startedAt // before `end`, which may start the next search of the same caller
  if (isDone) reading.end()
  else waiting.add(reading)
}

const planTurn = () => {
  if (isTurnPlanned) return
  isTurnPlanned = true
  setImmediate(turn)
}

const turn = () => {
  isTurnPlanned = false
  spent = Math.min(spent, slice - minForWaiting)
  for (const reading of waiting) {
    waiting.delete(reading) // `advance` adds it again, after the others, if it is not done
    advance(reading)
    if (spent >= slice) break
  }
  spent = 0
  if (waiting.size > 0) planTurn()
}

/** Runs a generator, which is suspended at yields if needed. A read that begins while the slice lasts does not wait. */
export const runInSlices = <A>(begin: () => Generator<void, A>) =>
  Effect.callback<A>((resume) => {
    const steps = begin()
    let result: Effect.Effect<A> = Effect.never
    const reading: Reading = {
      step: () => {
        const { done, value } = steps.next()
        if (done === true) result = Effect.succeed(value)
        return done === true
      },
      end: () => resume(result),
      fail: (error) => resume(Effect.die(error)) // the files were checked when they were opened
    }
    planTurn()
    if (spent < slice) advance(reading)
    else waiting.add(reading)
    return Effect.sync(() => waiting.delete(reading))
  })
