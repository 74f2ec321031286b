/**
 * Faults of branded-food releases, in pairs of one in each form: a run of such a release publishes nothing, so that the next
 * run finds the warehouse unchanged.
 */
import type { ServerResponse } from "node:http"
import type { Form } from "../label-releases.ts"
import { type Part, zipOf } from "./handmade-zips.ts"
import { csvFiles, foodLine, goodFiles, jsonRelease, line, recordOf } from "./small-releases.ts"

export interface FormFault {
  /** As in the table of the docs. */
  readonly fault: string
  /** The faulty zip. */
  readonly body?: Buffer
  /** Replaces the response of the host. */
  readonly host?: (response: ServerResponse, body: Buffer) => void
  /** The certificate of the host is not trusted. */
  readonly distrusted?: true
}
export type FaultyRelease = Readonly<Record<Form, FormFault>>

const records = (change: Readonly<Record<string, unknown>> = {}, ids: ReadonlyArray<number> = [901, 902, 903]) =>
  ids.map((id) => recordOf(id, change))
const jsonZip = (content: string | Buffer) => zipOf({ path: "brandedDownload.json", content })
const makeJsonZip = (change: Readonly<Record<string, unknown>>) => jsonZip(jsonRelease(records(change)))

const csv = goodFiles(900)
const changeFile = (name: string, change: (content: string) => string | Buffer): ReadonlyArray<Part> =>
  csv.map((part) => (part.path === name ? { ...part, content: change(part.content.toString()) } : part))
const makeCsvZip = (name: string, change: (content: string) => string | Buffer) => zipOf(...changeFile(name, change))

/** Faults of the files themselves. */
const filePairs: ReadonlyArray<FaultyRelease> = [
  {
    json: {
      fault: "JSON: a key renamed",
      body: jsonZip(jsonRelease(records().map((record) => record.replace('"foodNutrients"', '"nutrients"'))))
    },
    csv: {
      fault: "CSV: a column renamed",
      body: makeCsvZip("food.csv", (text) => text.replace('"description"', '"title"'))
    }
  },
  {
    json: { fault: "JSON: a key missing", body: makeJsonZip({ publicationDate: undefined }) },
    csv: {
      fault: "CSV: a column missing",
      body: makeCsvZip("food_nutrient.csv", (text) => text.replaceAll(/,[^,\n]*\n/g, "\n"))
    }
  },
  {
    json: { fault: "JSON: a key of another type", body: makeJsonZip({ foodNutrients: "none" }) },
    csv: {
      fault: "CSV: a column of another type",
      body: makeCsvZip("food_nutrient.csv", (text) => text.replaceAll('"3.5"', '"3.5 g"'))
    }
  },
  {
    json: {
      fault: "JSON: another data set",
      body: jsonZip(jsonRelease(records()).toString().replace("BrandedFoods", "FoundationFoods"))
    },
    csv: {
      fault: "CSV: another data set",
      body: zipOf(
        ...csvFiles({
          "food.csv": line(321358, "foundation_food", "Hummus, commercial", "16", "2019-04-01"),
          "branded_food.csv": "",
          "food_nutrient.csv": ""
        }).filter(({ path }) => path !== "branded_food.csv")
      )
    }
  },
  {
    json: { fault: "JSON: no record", body: jsonZip(jsonRelease([])) },
    csv: {
      fault: "CSV: no row",
      body: zipOf(...csvFiles({ "food.csv": "", "branded_food.csv": "", "food_nutrient.csv": "" }))
    }
  },
  {
    json: { fault: "JSON: `null` as the whole file", body: jsonZip("null") },
    csv: { fault: "CSV: `null` as the whole file", body: makeCsvZip("food.csv", () => "null") }
  },
  {
    json: {
      fault: "JSON: saved again by another tool, pretty-printed",
      body: jsonZip(JSON.stringify(JSON.parse(jsonRelease(records()).toString()), null, 2))
    },
    csv: { fault: "CSV: `null` as the whole file", body: makeCsvZip("branded_food.csv", () => "null") }
  },
  {
    json: { fault: "an HTML page instead of the zip", body: Buffer.from("<!doctype html><title>Sign in</title>") },
    csv: { fault: "an empty response", body: Buffer.alloc(0) }
  }
]

const hostPairs: ReadonlyArray<FaultyRelease> = [
  {
    json: { fault: "429 to each try", host: (response) => response.writeHead(429).end("slow down") },
    csv: { fault: "500 to each try", host: (response) => response.writeHead(500).end() }
  },
  {
    json: { fault: "no response in time", host: () => undefined },
    csv: {
      fault: "a connection that breaks off in the middle, each time",
      host: (response, body) => {
        response.writeHead(200, { "content-length": body.length })
        response.write(body.subarray(0, body.length >> 1), () => response.destroy())
      }
    }
  },
  {
    json: { fault: "a certificate that is not trusted", distrusted: true },
    csv: { fault: "404 to the zip", host: (response) => response.writeHead(404).end() }
  }
]

/** Whether a CSV file ends inside a record: its last line is incomplete. */
const endsInsideRecord = (text: string, columns: number) => {
  const last = text.slice(text.lastIndexOf("\n") + 1)
  return last !== "" && (last.match(/"[^"]*"/g) ?? []).length < columns
}

/** Truncates the content inside a record, at a random position after the header. */
const truncateRecord = (content: string, random: () => number): string => {
  const header = content.indexOf("\n") + 1
  const text = content.slice(0, header + Math.floor(random() * (content.length - header)))
  return endsInsideRecord(text, content.slice(0, header).split(",").length) ? text : truncateRecord(content, random)
}

/** Both zips or their content, truncated at positions that depend on the seed. */
const truncatedReleases = (random: () => number): ReadonlyArray<FaultyRelease> =>
  Array.from({ length: 10 }, (_, number): FaultyRelease => {
    const truncate = (bytes: Buffer) => bytes.subarray(0, 64 + Math.floor(random() * (bytes.length - 64)))
    const json = jsonRelease(records())
    const name = csv[number % csv.length]?.path ?? ""
    const isZip = number % 2 === 0
    return {
      json: {
        fault: isZip ? "the zip cut at any byte" : "JSON: the file cut at any byte",
        body: isZip ? truncate(jsonZip(json)) : jsonZip(truncate(json.subarray(0, -3)))
      },
      csv: {
        fault: isZip ? "the zip cut at any byte" : "CSV: a file cut inside of a record",
        body: isZip ? truncate(zipOf(...csv)) : makeCsvZip(name, (content) => truncateRecord(content, random))
      }
    }
  })

/** Faults of the files. `random` determines where they are truncated. */
export const faultyFiles = (random: () => number) => [...filePairs, ...truncatedReleases(random)]

/** Faults of the host, and one of each kind of the files: missing, of another type, empty, another format, truncated. */
export const faultyReleases = (random: () => number): ReadonlyArray<FaultyRelease> => {
  const kinds = ["JSON: a key missing", "JSON: a key of another type", "JSON: no record"]
  const ofFiles = filePairs.filter(({ json }) => kinds.includes(json.fault) || json.fault.startsWith("an HTML page"))
  return [...ofFiles, ...truncatedReleases(random).slice(0, 2), ...hostPairs]
}

/** A nutrient without a number in Larder's dictionary. */
export const unnumbered = { id: 2067, number: "960", name: "Vitamin A", unitName: "UG" }

/** Makes both forms with tolerated faults: an unknown field, and a text that is not UTF-8. */
export const makeTolerated = (from: number): Readonly<Record<Form, Buffer>> => {
  const invalid = from + 4
  const latin1 = (text: string) => Buffer.from(text, "latin1")
  const files = goodFiles(from).map(({ content, path }) => {
    if (path !== "food.csv") return { path, content }
    const [header = "", ...lines] = content.toString().replaceAll('"\n', '","new"\n').split("\n")
    const row = foodLine(invalid, "CR\u00c8ME").replace('"\n', '","new"')
    return { path, content: latin1([header, row, ...lines].join("\n")) }
  })
  const foodNutrients = [{ id: 1, nutrient: unnumbered, amount: 5 }]
  const records = [1, 2, 3].map((id) => recordOf(from + id, { newKey: 1, foodNutrients }))
  const lines = [...records, recordOf(invalid, { description: "CR\u00c8ME" })].map(latin1)
  const counts = {
    path: "all_downloaded_table_record_counts.csv",
    content: "Table,Number of Records\nfood_nutrient,30\n"
  }
  return { json: jsonZip(jsonRelease(lines)), csv: zipOf(...files, counts) }
}
