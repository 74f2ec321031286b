import { stopsUnderLoad } from "../crash/stops-under-load.ts"

stopsUnderLoad({ stops: 10 })
