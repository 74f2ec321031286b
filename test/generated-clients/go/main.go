// Calls all operations with the client of oapi-codegen: one line of JSON per response.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/oapi-codegen/runtime/types"

	"larder.test/program/client"
)

var ctx = context.Background()

func connect(key string) *client.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv(key))
		return nil
	}
	created, err := client.NewClientWithResponses(os.Getenv("LARDER_URL"), client.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	return created
}

func must[A any](value A, err error) A {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func printResponse(status int, body any) {
	line, err := json.Marshal(map[string]any{"status": status, "body": body})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func pointerTo[A any](value A) *A { return &value }

func day(year int, month time.Month, date int) *types.Date {
	return &types.Date{Time: time.Date(year, month, date, 0, 0, 0, 0, time.UTC)}
}

func main() {
	api := connect("LARDER_API_KEY")

	butter := must(api.SearchCommoditiesWithResponse(ctx, &client.SearchCommoditiesParams{Commodity: pointerTo("butter")}))
	printResponse(butter.StatusCode(), butter.JSON200)
	groups := must(api.SearchCommoditiesWithResponse(ctx, &client.SearchCommoditiesParams{}))
	printResponse(groups.StatusCode(), groups.JSON200)
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.SearchCommoditiesParams{Category: pointerTo("dairy"), Limit: pointerTo(8), Cursor: cursor}
		page := must(api.SearchCommoditiesWithResponse(ctx, &params))
		printResponse(page.StatusCode(), page.JSON200)
		cursor = page.JSON200.NextCursor
	}
	prices := must(api.GetCommodityPricesWithResponse(ctx, &client.GetCommodityPricesParams{
		Series: "cheese-block-sales-price-weekly,milk-class-iii-price-monthly",
		From:   day(2026, time.August, 1),
		To:     day(2026, time.September, 30),
	}))
	printResponse(prices.StatusCode(), prices.JSON200)
	values := must(api.GetCommodityMetricValuesWithResponse(ctx, &client.GetCommodityMetricValuesParams{
		Metrics: "butter_sales_price_weekly,dry_whey_sales_price_weekly",
		From:    day(2026, time.August, 29),
	}))
	printResponse(values.StatusCode(), values.JSON200)

	var foods []client.BrandedFood
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.SearchBrandedFoodsParams{Category: pointerTo("Breads & Buns"), Limit: pointerTo(10), Cursor: cursor}
		page := must(api.SearchBrandedFoodsWithResponse(ctx, &params))
		printResponse(page.StatusCode(), page.JSON200)
		foods, cursor = append(foods, page.JSON200.Data...), page.JSON200.NextCursor
	}
	categories := must(api.GetBrandedFoodCategoriesWithResponse(ctx))
	printResponse(categories.StatusCode(), categories.JSON200)
	food := must(api.GetBrandedFoodWithResponse(ctx, foods[0].Id))
	printResponse(food.StatusCode(), food.JSON200)

	var store string
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		page := must(api.SearchStoresWithResponse(ctx, &client.SearchStoresParams{Limit: pointerTo(2), Cursor: cursor}))
		printResponse(page.StatusCode(), page.JSON200)
		for _, candidate := range page.JSON200.Data {
			if store == "" && candidate.CollectionCount > 0 {
				store = candidate.Id
			}
		}
		cursor = page.JSON200.NextCursor
	}
	found := must(api.GetStoreWithResponse(ctx, store))
	printResponse(found.StatusCode(), found.JSON200)
	var products []client.StoreProductSummary
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.GetStoreProductsParams{Limit: pointerTo(25), Cursor: cursor}
		page := must(api.GetStoreProductsWithResponse(ctx, store, &params))
		printResponse(page.StatusCode(), page.JSON200)
		products, cursor = append(products, page.JSON200.Data...), page.JSON200.NextCursor
	}
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.GetStoreCollectionsParams{Limit: pointerTo(3), Cursor: cursor}
		page := must(api.GetStoreCollectionsWithResponse(ctx, store, &params))
		printResponse(page.StatusCode(), page.JSON200)
		cursor = page.JSON200.NextCursor
	}
	product := must(api.GetProductWithResponse(ctx, products[0].Id))
	printResponse(product.StatusCode(), product.JSON200)

	invalid := must(api.GetCommodityPricesWithResponse(ctx, &client.GetCommodityPricesParams{Series: "gold"}))
	printResponse(invalid.StatusCode(), invalid.JSON400)
	unauthorized := must(connect("LARDER_UNKNOWN_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	printResponse(unauthorized.StatusCode(), unauthorized.JSON401)
	paused := must(connect("LARDER_PAUSED_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	printResponse(paused.StatusCode(), paused.JSON402)
	narrow := must(connect("LARDER_NARROW_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	printResponse(narrow.StatusCode(), narrow.JSON403)
	missing := must(api.GetBrandedFoodWithResponse(ctx, "no such food, é/?"))
	printResponse(missing.StatusCode(), missing.JSON404)
	broken := must(api.GetProductWithResponse(ctx, "broken"))
	printResponse(broken.StatusCode(), broken.JSON500)
	overloaded := must(api.GetProductWithResponse(ctx, "overloaded"))
	printResponse(overloaded.StatusCode(), overloaded.JSON503)
}
