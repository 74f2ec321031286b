/** What a server knows about its data, its process and its disk, for operators: /readyz, /metrics and the console. */
export { machineMetrics } from "./machine-metrics.ts"
export { warehouseMetrics } from "./warehouse-metrics.ts"
export { watchMachine } from "./watch-machine.ts"
export { type WarehouseState, watchWarehouse } from "./watch-warehouse.ts"
