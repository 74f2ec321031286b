/** A resource that closes with its last user. */
import { Effect, Exit, Scope } from "effect"

export interface Shared {
  readonly scope: Scope.Closeable
  users: number
}

export const leave = (shared: Shared) =>
  Effect.suspend(() => (--shared.users === 0 ? Scope.close(shared.scope, Exit.void) : Effect.void))
