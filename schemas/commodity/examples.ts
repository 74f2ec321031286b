/**
 * Example calls of the commodity endpoints and their responses, from the bundled samples, whose numbers are mostly
 * generated. No example uses a series that a server may withhold.
 */
import type { Examples } from "../endpoint.ts"

const classReport = "Announcement of Class and Component Prices"
const milkClass = (name: string, number: number, report: string, last_observed_on: string) => ({
  slug: `milk-class-${name}-price-monthly`,
  spec: null,
  market: "Federal milk marketing orders",
  measure: `class_${number}_Price`,
  unit: "USD/cwt",
  frequency: "monthly",
  source: "gov-mpr",
  report,
  first_observed_on: "2012-04-01",
  last_observed_on
})

export const searchCommoditiesExamples: Examples = {
  grouped: {
    summary: "The series of one commodity",
    target: "/v1/commodities?commodity=milk-class",
    body: {
      data: [
        {
          commodity: "Milk",
          series: [
            milkClass("i", 1, "Announcement of Advanced Prices and Pricing Factors", "2026-10-01"),
            milkClass("ii", 2, classReport, "2026-09-01"),
            milkClass("iii", 3, classReport, "2026-09-01"),
            milkClass("iv", 4, classReport, "2026-09-01")
          ]
        }
      ]
    }
  },
  paged: {
    summary: "The first product of a category, with its metrics",
    target: "/v1/commodities?category=dairy%2Fmilk&limit=1",
    body: {
      data: [
        {
          slug: "milk-class-i",
          category: "dairy/milk",
          attributes: { class: "I" },
          details: {
            description:
              "Raw milk for fluid milk; the base price of the advanced announcement, without location differential: monthly minimum price of the federal orders, at 3.5% butterfat."
          },
          metrics: [
            {
              metric_name: "milk_class_i_price_monthly",
              measure: "class_1_Price",
              unit: "usd_per_cwt",
              region: "united_states",
              market_level: "federal_order_minimum",
              freight: "not_stated",
              frequency: "monthly",
              source: "gov-mpr",
              first_observed_on: "2012-04-01",
              last_observed_on: "2026-10-01"
            }
          ]
        }
      ],
      next_cursor: "XpT36gA7IjteMHy3WyJtaWxrLWNsYXNzLWkiXQ"
    }
  }
}

export const getCommodityPricesExamples: Examples = {
  prices: {
    summary: "Two series, one of them monthly",
    target:
      "/v1/commodities/prices?series=cheese-block-sales-price-weekly,milk-class-iii-price-monthly&from=2026-09-01",
    body: {
      data: [
        {
          slug: "cheese-block-sales-price-weekly",
          unit: "USD/lb",
          points: [
            { date: "2026-09-05", value: 1.6121 },
            { date: "2026-09-12", value: 1.5793 },
            { date: "2026-09-19", value: 1.5435 },
            { date: "2026-09-26", value: 1.4958 }
          ]
        },
        { slug: "milk-class-iii-price-monthly", unit: "USD/cwt", points: [{ date: "2026-09-01", value: 15.97 }] }
      ]
    }
  }
}

export const getCommodityMetricValuesExamples: Examples = {
  values: {
    summary: "Two metrics, the end of the range left open",
    target:
      "/v1/commodities/metric-values?metrics=milk_class_iii_price_monthly,dry_whey_sales_price_weekly&from=2026-08-29",
    body: {
      data: [
        {
          metric_name: "milk_class_iii_price_monthly",
          unit: "usd_per_cwt",
          from: "2026-08-29",
          to: "2026-09-01",
          points: [{ date: "2026-09-01", value: 15.97 }]
        },
        {
          metric_name: "dry_whey_sales_price_weekly",
          unit: "usd_per_lb",
          from: "2026-08-29",
          to: "2026-09-26",
          points: [
            { date: "2026-08-29", value: 0.6531 },
            { date: "2026-09-05", value: 0.6664 },
            { date: "2026-09-12", value: 0.6621 },
            { date: "2026-09-19", value: 0.6727 },
            { date: "2026-09-26", value: 0.6752 }
          ]
        }
      ]
    }
  }
}
