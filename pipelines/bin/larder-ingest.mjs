#!/usr/bin/env node
import { launch } from "@larder/warehouse/bin/launch.mjs"

launch(import.meta.url)
