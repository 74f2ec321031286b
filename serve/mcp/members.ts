/** The members of an answer on one line, for a model: names and nesting of its schema, without types. */
import { componentSchemas } from "@larder/schemas/json-schema.ts"
import type { Schema } from "effect"

interface Node {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Node>
  readonly type?: string
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
}

/** `{ data: [{ id, price: { min, max } }], next_cursor }`. Alternative shapes of an answer are joined by "or". */
export const membersOf = (response: Schema.Constraint): string => {
  const written: { readonly schemas: ReadonlyArray<Node>; readonly components: Readonly<Record<string, Node>> } =
    JSON.parse(JSON.stringify(componentSchemas([response])))
  const membersIn = ({ $ref, anyOf = [], items, properties }: Node): string => {
    if ($ref !== undefined) return membersIn(written.components[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {})
    if (items !== undefined) {
      const each = membersIn(items)
      return each === "" ? "" : `[${each}]`
    }
    if (properties === undefined) return anyOf.map(membersIn).filter(Boolean).join(" or ")
    const members = Object.entries(properties).map(([name, value]) => {
      const inside = membersIn(value)
      return inside === "" ? name : `${name}: ${inside}`
    })
    return `{ ${members.join(", ")} }`
  }
  return written.schemas.map(membersIn).join()
}
