/** Resources that several users share: each closes when its last user is done. */
import { Effect, Exit, Scope } from "effect"

export interface RefCounted {
  readonly scope: Scope.Closeable
  users: number
}

/** Opens a resource in a scope of its own, which is closed if that fails. It has no user yet. */
export const openRefCounted = Effect.fnUntraced(function* <A extends object, E, R>(open: Effect.Effect<A, E, R>) {
  const scope = yield* Scope.make()
  const opened = yield* open.pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  return { ...opened, scope, users: 0 }
})

export const addUser = <A extends RefCounted>(resource: A) =>
  Effect.sync(() => {
    resource.users++
    return resource
  })

export const removeUser = (resource: RefCounted) =>
  Effect.suspend(() => (--resource.users === 0 ? Scope.close(resource.scope, Exit.void) : Effect.void))

/** Uses a resource until the current scope ends. */
export const useInScope = (resource: RefCounted) => Effect.acquireRelease(addUser(resource), removeUser)
