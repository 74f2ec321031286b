/** The other languages are in test/long: this one takes the least time. */
import { served } from "../support/api/served.ts"
import { itCallsEverything } from "./calls-everything.ts"
import { python } from "./toolchains.ts"

itCallsEverything(python, served())
