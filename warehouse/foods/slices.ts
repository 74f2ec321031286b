/**
 * Long reading on the event loop, in slices: all of it in the process shares one slice per turn of the loop, in turns, so
 * that a hundred long searches keep the loop from others no longer than one does.
 */
import { Effect } from "effect"

/** How long searches keep the event loop before they let others have it, in ms. */
const slice = 4
/** What the waiting ones get of it at least, should new ones keep arriving. */
const leastForWaiting = 1

interface Reading {
  /** One step. True when it was the last. */
  readonly step: () => boolean
  readonly end: () => void
  readonly fail: (error: unknown) => void
}

/** In the order of their turns. */
const waiting = new Set<Reading>()
/** What the present turn of the event loop has cost, in ms. */
let spent = 0
let isTurnPlanned = false

/** Takes a reading as far as it comes in what is left of the slice: one step at least. */
const advance = (reading: Reading) => {
  const began = performance.now()
  const latest = began + slice - spent
  let isDone = false
  let now = began
  try {
    do {
      isDone = reading.step()
      now = performance.now()
    } while (!isDone && now < latest)
  } catch (error) {
    spent += performance.now() - began
    return reading.fail(error)
  }
  spent += now - began // before its end, where the next search of the same caller may begin
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
  spent = Math.min(spent, slice - leastForWaiting)
  for (const reading of waiting) {
    waiting.delete(reading) // comes again behind the others when it is not done
    advance(reading)
    if (spent >= slice) break
  }
  spent = 0
  if (waiting.size > 0) planTurn()
}

/**
 * Runs a generator to its end; its yields are the places where it can be left for a while, or for good. One that begins
 * while something is left of the slice need not wait.
 */
export const inSlices = <A>(begin: () => Generator<void, A>) =>
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
      fail: (error) => resume(Effect.die(error)) // a file that was whole when it was opened
    }
    planTurn()
    if (spent < slice) advance(reading)
    else waiting.add(reading)
    return Effect.sync(() => waiting.delete(reading))
  })
