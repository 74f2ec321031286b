/** Runs the same steps over a ledger and a plain model of it. Several servers are tested by the histories. */
import { describe } from "vitest"
import { agreesWithModel } from "./agrees-with-model.ts"
import { inFolder } from "./ledgers.ts"

export const ledgersAndModels = ({ steps }: { readonly steps: number }) =>
  describe("a ledger and a plain model of it", () => {
    agreesWithModel("a folder", async () => inFolder, steps)
  })
