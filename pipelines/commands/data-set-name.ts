/** The name of a data set on the command line: that of the pipeline that fills it. */
import { dataSets } from "@larder/warehouse/tables.ts"
import { Schema } from "effect"

export const dataSetNames = dataSets.map(({ about: { pipeline } }) => pipeline)

export const DataSetName = Schema.Literals(dataSetNames)
