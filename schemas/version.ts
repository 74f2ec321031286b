/** The version of Larder, from the one place that states it: the rooms are released together and state none. */
import manifest from "../package.json" with { type: "json" }

export const { version } = manifest
