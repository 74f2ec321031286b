/** The name of a data set on the command line is the name of the pipeline that fills it. */
import { dataSets } from "@larder/warehouse/data-sets.ts"
import { Schema } from "effect"
import { Flag } from "effect/cli"

export const dataSetNames = dataSets.map(({ about: { pipeline } }) => pipeline)

export const DataSetName = Schema.Literals(dataSetNames)

/** `--only DATA-SET` */
export const onlyFlag = Flag.String("only").pipe(
  Flag.withSchema(DataSetName),
  Flag.withMetavar("DATA-SET"),
  Flag.withDescription(`One data set alone: ${dataSetNames.join(", ")}`),
  Flag.optional
)
