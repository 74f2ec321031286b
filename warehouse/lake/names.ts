/** Names of the lake's files in a depot: the catalogue, the files of the tables, and their Delta logs. */
const folder = "lake/"
/** The catalogue that readers open. */
export const openedCatalogue = `${folder}larder.ducklake`
/** Catalogues under their SHA-256, one for each kept state. */
export const cataloguesFolder = `${folder}catalogues/`
export const catalogueName = (sha256: string) => `${cataloguesFolder}${sha256}.ducklake`
/** States of the lake, in order. */
export const statesFolder = `${folder}states/`
export const stateName = (place: number) => `${statesFolder}${String(place).padStart(9, "0")}.json`

export const dataFolder = `${folder}data/`
export const fileName = (schema: string, table: string, file: string) => `${dataFolder}${schema}/${table}/${file}`

const logFileName = (schema: string, table: string, version: number, extension: string) =>
  fileName(schema, table, `_delta_log/${String(version).padStart(20, "0")}.${extension}`)
export const commitName = (schema: string, table: string, version: number) =>
  logFileName(schema, table, version, "json")
export const checkpointName = (schema: string, table: string, version: number) =>
  logFileName(schema, table, version, "checkpoint.parquet")
export const lastCheckpointName = (schema: string, table: string) =>
  fileName(schema, table, "_delta_log/_last_checkpoint")

/** The table and version to which a log file belongs. */
export const parseLogFileName = (name: string) => {
  const [, schema, table, version] =
    /^lake\/data\/([^/]+)\/([^/]+)\/_delta_log\/(\d{20})\.(?:json|checkpoint\.parquet)$/.exec(name) ?? []
  return version === undefined ? undefined : { table: `${schema}.${table}`, version: Number(version) }
}
