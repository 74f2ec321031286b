/** The version of Larder, stated only in the root `package.json`: the rooms are released together and state none. */
import manifest from "../package.json" with { type: "json" }

export const { version } = manifest
