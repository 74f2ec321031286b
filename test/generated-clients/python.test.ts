/** The other languages are in test/long: this one takes the least time. */
import { useSharedServer } from "../support/api/server.ts"
import { itCallsEverything } from "./calls-everything.ts"
import { python } from "./toolchains.ts"

itCallsEverything(python, useSharedServer())
