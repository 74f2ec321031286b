/** A running history: the reference model, the servers, and what calls and operators do to both. */
import assert from "node:assert/strict"
import type { Scope } from "@larder/schemas"
import {
  type Administration,
  type AdministrationError,
  type AdmittedCall,
  type ApiKeyView,
  type LedgerAccess,
  LedgerUnavailable
} from "@larder/serve/ledger"
import { Clock, Effect, Result } from "effect"
import type { CaptureOutcome, HoldModel, KeyModel, Model, Outcome } from "./model.ts"
import type { Subject } from "./subject.ts"

const systemClock = Effect.runSync(Clock.clockWith(Effect.succeed))

/** The time of day comes from `now`; the monotonic clock is the system's. */
export const clockAt = (now: () => number): Clock.Clock => ({
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now),
  currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => systemClock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: systemClock.monotonicTimeNanos,
  sleep: (duration) => systemClock.sleep(duration)
})

/** A key as a server returned it before it was edited or revoked. */
interface StaleView {
  readonly server: number
  readonly key: KeyModel
  readonly view: ApiKeyView
}

interface Counts {
  charges: number
  insufficient_balance: number
  monthly_spend_cap_reached: number
}
const noCounts = (): Counts => ({
  charges: 0,
  insufficient_balance: 0,
  monthly_spend_cap_reached: 0
})

export class World {
  readonly model: Model
  readonly subject: Subject
  /** How often each kind of event has happened, over all histories of a run. */
  readonly tally: Map<string, number>
  readonly handles = new Map<HoldModel, AdmittedCall>()
  stale: Array<StaleView> = []
  /** Admitted calls of this step that were refused when they were charged: what is left now must not suffice for them. */
  refusedCharges: Array<HoldModel> = []
  /** The expected counters of each server. */
  readonly counts: Array<Counts>
  private readonly views = new Map<string, ApiKeyView>()
  steps = 0
  private requests = 0
  private readonly clock: Clock.Clock

  constructor(model: Model, subject: Subject, tally: Map<string, number>) {
    this.model = model
    this.subject = subject
    this.tally = tally
    this.clock = clockAt(() => model.now)
    this.counts = subject.servers().map(noCounts)
  }

  note(event: string, times = 1): void {
    this.tally.set(event, (this.tally.get(event) ?? 0) + times)
  }

  /** Maps any number to a server. */
  serverAt(choice: number): number {
    return choice % this.subject.servers().length
  }

  server(index: number): LedgerAccess {
    const server = this.subject.servers()[index]
    assert.ok(server !== undefined, `there is no server ${index}`)
    return server
  }

  countsOf(server: number): Counts {
    const counts = this.counts[server]
    assert.ok(counts !== undefined, `there is no server ${server}`)
    return counts
  }

  newRequestId(): string {
    return `req_${++this.requests}`
  }

  /** Runs an operation of an operator, at the time of the history. */
  operate<A>(
    server: number,
    operation: (administration: Administration["Service"]) => Effect.Effect<A, AdministrationError>
  ): Promise<Result.Result<A, AdministrationError>> {
    return this.run(Effect.result(operation(this.server(server).administration)))
  }

  /** Runs an effect at the time of the history. */
  run<A, E>(effect: Effect.Effect<A, E>): Promise<A> {
    return Effect.runPromise(Effect.provideService(effect, Clock.Clock, this.clock))
  }

  /** A change by an operator. Returns undefined during an outage; then nothing may have changed. */
  async change<A>(
    server: number,
    operation: (administration: Administration["Service"]) => Effect.Effect<A, AdministrationError>
  ): Promise<A | undefined> {
    const result = await this.operate(server, operation)
    if (!this.model.isDown) return Result.getOrThrow(result)
    assert.ok(Result.isFailure(result), "a change was made during an outage")
    assert.equal(result.failure._tag, "LedgerUnavailable")
    this.note("change refused in an outage")
    return undefined
  }

  /** Looks a key up like the request pipeline: again, if the server had an older state in memory. */
  async lookUp(server: number, key: KeyModel, secret = key.secret): Promise<ApiKeyView | undefined> {
    const ledger = this.server(server)
    const name = `${server} ${key.id} ${secret}`
    for (let attempt = 1; attempt <= 2; attempt++) {
      const view = await ledger.authenticate(secret, this.model.now)
      const before = this.views.get(name)
      if (before !== undefined && before.revision !== view?.revision) this.stale.push({ server, key, view: before })
      if (view === undefined) {
        this.views.delete(name)
        return undefined
      }
      this.views.set(name, view)
      if (await ledger.isCurrent(view, this.model.now)) return view
    }
    throw new Error(`key ${key.id} was looked up twice on server ${server} and is not current`)
  }

  /** Requests a hold. The caller checks the outcome and updates the model. */
  async hold(
    server: number,
    view: ApiKeyView,
    call: { readonly endpoint: string; readonly scope: Scope; readonly credits: number }
  ): Promise<AdmittedCall | "key_changed" | "unavailable" | Exclude<Outcome, "held">> {
    try {
      const admission = await this.server(server).hold(view, call, this.model.now)
      if ("held" in admission) {
        this.note("held")
        return admission.held
      }
      this.note(admission.refused)
      if (admission.refused !== "key_changed") this.countsOf(server)[admission.refused]++
      return admission.refused
    } catch (error) {
      assert.ok(error instanceof LedgerUnavailable && this.model.isDown, `a hold failed: ${error}`)
      return "unavailable"
    }
  }

  keep(hold: HoldModel, held: AdmittedCall): HoldModel {
    this.model.holds.push(hold)
    this.handles.set(hold, held)
    return hold
  }

  handleOf(hold: HoldModel): AdmittedCall {
    const held = this.handles.get(hold)
    assert.ok(held !== undefined, "a hold without a handle")
    return held
  }

  /** The outcome of a capture, or `rejected`. During an outage it must be rejected, and only then. */
  async tryCapture(hold: HoldModel, requestId: string): Promise<CaptureOutcome | "rejected"> {
    try {
      const outcome = await this.handleOf(hold).capture(requestId)
      const counts = this.countsOf(hold.server)
      if (outcome === "charged") counts.charges++
      else if (outcome in counts) counts[outcome as keyof Counts]++
      return outcome
    } catch (error) {
      if (error instanceof LedgerUnavailable) assert.ok(this.model.isDown, `a charge was not written: ${error}`)
      return "rejected"
    }
  }

  /** A capture among others, whose order is unknown. It is rejected in an outage, and only then. */
  async capture(hold: HoldModel, requestId = this.newRequestId()): Promise<CaptureOutcome | "rejected"> {
    const outcome = await this.tryCapture(hold, requestId)
    assert.equal(outcome === "rejected", this.model.isDown, `the capture of ${requestId}: ${outcome}`)
    this.settle(hold, outcome, requestId)
    return outcome
  }

  /** A capture whose outcome is that of the model. */
  async captureAlone(hold: HoldModel): Promise<void> {
    const expected = this.model.isDown ? "rejected" : this.model.decideCharge(hold)
    assert.equal(await this.capture(hold), expected)
  }

  /** Updates the model with the outcome of a capture. */
  settle(hold: HoldModel, outcome: CaptureOutcome | "rejected", requestId: string): void {
    if (outcome !== "charged") {
      this.note(outcome === "rejected" ? "charge refused" : `refused after the read: ${outcome}`)
      if (outcome !== "rejected") this.refusedCharges.push(hold)
      this.model.release(hold)
      return
    }
    this.note("charged")
    if (this.model.isOfAnotherMonth(hold)) this.note("charged to another month")
    this.model.charge(hold, requestId)
    if (this.model.balance(hold.key.account) < 0) this.note("charged below 0")
  }

  release(hold: HoldModel): void {
    this.handleOf(hold).release()
    this.model.release(hold)
    this.note("released")
  }

  async endOutage(): Promise<void> {
    await this.subject.endOutage()
    this.model.isDown = false
  }

  /** A server was stopped or killed, and another one runs in its place. */
  replaceServer(server: number): void {
    this.model.forget(server)
    this.counts[server] = noCounts()
    this.stale = this.stale.filter((view) => view.server !== server)
    for (const name of this.views.keys()) if (name.startsWith(`${server} `)) this.views.delete(name)
    for (const hold of this.handles.keys()) if (hold.server === server) this.handles.delete(hold)
  }
}
