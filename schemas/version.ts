/** The version of Larder, from the root `package.json`: all rooms are released together with this version. */
import manifest from "../package.json" with { type: "json" }

export const { version } = manifest
