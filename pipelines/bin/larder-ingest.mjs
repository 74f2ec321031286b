#!/usr/bin/env node
import { launch } from "@larder/warehouse/bin/launch.mjs"

launch(new URL("../cli.ts", import.meta.url))
