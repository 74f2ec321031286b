import { Schema } from "effect"

/** An error that no code handles specially. Its message says what happened and what to do. */
export class WarehouseProblem extends Schema.TaggedError<WarehouseProblem>()("WarehouseProblem", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}
