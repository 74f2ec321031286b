import { stopsUnderLoad } from "./stops-under-load.ts"

stopsUnderLoad({ stops: 1 })
