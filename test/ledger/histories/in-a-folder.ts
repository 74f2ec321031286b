import { describe } from "vitest"
import { overFolder } from "./embedded-subjects.ts"
import { histories } from "./histories.ts"

export const historiesInAFolder = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the ledger in a folder", () => {
    histories(overFolder("a folder", { journalFileSize: 256 * 1024 }), { runs, steps: 300 })
    // small ones are sealed, taken up and used again in every history
    const often = { journalFileSize: 16 * 1024, entriesBetweenSnapshots: 20 }
    histories(overFolder("a folder with small journal files and many snapshots", often), { runs, steps: 300 })
  })
