/**
 * Reads the fields of a row and checks their types. A value of another type rejects its row, except in an optional
 * field: there it is null and recorded as an odd value.
 */
import { UnusableRow } from "./feed-errors.ts"
import { type FeedStats, qualifyField } from "./feed-stats.ts"
import type { Role } from "./field-roles.ts"
import { type FieldType, isMissing, types } from "./field-types.ts"
import { formatJson, type JsonObject } from "./responses.ts"
import { splitAddresses } from "./texts.ts"

/** The fields of a row, or of a part of it, such as a variant. Only fields with a role can be read. */
export class Fields<Name extends string> {
  readonly #stats: FeedStats
  readonly #roles: Readonly<Record<Name, Role>>
  readonly #part: string
  readonly #number: number
  readonly #names: ReturnType<FeedStats["fieldsOf"]>

  constructor(stats: FeedStats, roles: Readonly<Record<Name, Role>>, part = "", number = 0) {
    this.#stats = stats
    this.#roles = roles
    this.#part = part
    this.#number = number
    this.#names = stats.fieldsOf(part)
  }

  /**
   * Null if there is no value. Fails with `UnusableRow` for a value of another type, unless the field is optional. `name`
   * is the field's name in messages.
   */
  read<A>(field: Name, value: unknown, type: FieldType<A>, name: string = field): A | null {
    if (value !== undefined) this.#names.seen.add(field)
    if (isMissing(value, type)) return null
    const result = type.read(value)
    if (result === undefined) {
      if (this.#roles[field] === "optional") return this.#recordOddValue(name, value)
      const problem = type.explain?.(value) ?? `which is not ${type.name}`
      return this.reject(field, `is ${formatJson(value).slice(0, 100)}, ${problem}`, name)
    }
    this.#names.typed.add(field)
    return result
  }

  /** The addresses in a text that may list several. */
  readAddresses(field: Name, value: string, name: string = field): ReadonlyArray<string> {
    const addresses = splitAddresses(value).map((address) => this.read(field, address, types.address, name))
    return addresses.filter((address) => address !== null)
  }

  /** The objects of a list, which may contain only objects and null. */
  readObjects(field: Name, value: unknown): ReadonlyArray<JsonObject> {
    return (this.read(field, value, types.list) ?? []).flatMap((entry) => {
      const object = this.read(field, entry, types.object)
      return object === null ? [] : [object]
    })
  }

  reject(field: Name, problem: string, name: string = field): never {
    const owner = this.#part === "" ? `its ${name}` : `the ${name} of its ${this.#part} ${this.#number}`
    const reason = `${owner} ${problem}`
    this.#stats.recordMistyped(this.#part, field, reason)
    throw new UnusableRow(reason)
  }

  #recordOddValue(field: string, value: unknown): null {
    this.#stats.recordOddValue(qualifyField(this.#part, field), value)
    return null
  }
}
