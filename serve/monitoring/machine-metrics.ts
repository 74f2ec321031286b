/** Metrics of the process and the disk. The names of the process are those of Prometheus' own clients. */
import { version } from "@larder/schemas"
import { formatLabels, type Metric } from "../api/index.ts"
import type { MachineState } from "./watch-machine.ts"

const startedAt = Date.now() / 1000 - process.uptime()

export const machineMetrics = (state: () => MachineState): ReadonlyArray<Metric> => {
  /** Without a sample if the value is unknown. */
  const gauge = (name: string, help: string, value: () => number | undefined): Metric => ({
    name,
    type: "gauge",
    help,
    values: () => {
      const current = value()
      return current === undefined ? [] : [["", current]]
    }
  })
  const delays = "of the event loop in the last ten seconds, in seconds: how late timers were."
  return [
    {
      name: "larder_build_info",
      type: "gauge",
      help: "Versions of Larder and Node; always 1.",
      values: () => [[formatLabels({ version, node: process.version }), 1]]
    },
    {
      name: "process_cpu_seconds_total",
      type: "counter",
      help: "User and system CPU time that the process has used, in seconds.",
      values: () => {
        const { system, user } = process.cpuUsage()
        return [["", (system + user) / 1e6]]
      }
    },
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", () => startedAt),
    gauge("process_resident_memory_bytes", "Resident memory of the process, in bytes.", () =>
      process.memoryUsage.rss()
    ),
    gauge("process_open_fds", "Open file descriptors of the process; on Linux only.", () => state().descriptors?.open),
    gauge(
      "process_max_fds",
      "Highest number of file descriptors that the process may have; on Linux only.",
      () => state().descriptors?.max
    ),
    gauge("larder_event_loop_delay_p99_seconds", `99th percentile of the delay ${delays}`, () => state().delay.p99),
    gauge("larder_event_loop_delay_max_seconds", `Largest delay ${delays}`, () => state().delay.max),
    gauge(
      "larder_disk_free_bytes",
      "Bytes that can still be written to the file system of LARDER_HOME.",
      () => state().disk?.free
    ),
    gauge("larder_disk_size_bytes", "Size of the file system of LARDER_HOME, in bytes.", () => state().disk?.size),
    gauge(
      "larder_raw_bytes",
      "Bytes of the files of the raw archive, measured every ten minutes.",
      () => state().folders?.raw
    ),
    gauge(
      "larder_warehouse_bytes",
      "Bytes of the files of the warehouse, measured every ten minutes.",
      () => state().folders?.warehouse
    )
  ]
}
