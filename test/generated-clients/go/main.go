// All operations by the client that oapi-codegen has generated: one line of JSON for each answer.
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
	made, err := client.NewClientWithResponses(os.Getenv("LARDER_URL"), client.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	return made
}

func done[A any](answer A, err error) A {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

func tell(status int, body any) {
	line, err := json.Marshal(map[string]any{"status": status, "body": body})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func of[A any](value A) *A { return &value }

func day(year int, month time.Month, date int) *types.Date {
	return &types.Date{Time: time.Date(year, month, date, 0, 0, 0, 0, time.UTC)}
}

func main() {
	api := connect("LARDER_API_KEY")

	butter := done(api.SearchCommoditiesWithResponse(ctx, &client.SearchCommoditiesParams{Commodity: of("butter")}))
	tell(butter.StatusCode(), butter.JSON200)
	groups := done(api.SearchCommoditiesWithResponse(ctx, &client.SearchCommoditiesParams{}))
	tell(groups.StatusCode(), groups.JSON200)
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.SearchCommoditiesParams{Category: of("dairy"), Limit: of(8), Cursor: cursor}
		page := done(api.SearchCommoditiesWithResponse(ctx, &params))
		tell(page.StatusCode(), page.JSON200)
		cursor = page.JSON200.NextCursor
	}
	prices := done(api.GetCommodityPricesWithResponse(ctx, &client.GetCommodityPricesParams{
		Series: "cheese-block-sales-price-weekly,milk-class-iii-price-monthly",
		From:   day(2026, time.August, 1),
		To:     day(2026, time.September, 30),
	}))
	tell(prices.StatusCode(), prices.JSON200)
	values := done(api.GetCommodityMetricValuesWithResponse(ctx, &client.GetCommodityMetricValuesParams{
		Metrics: "butter_sales_price_weekly,dry_whey_sales_price_weekly",
		From:    day(2026, time.August, 29),
	}))
	tell(values.StatusCode(), values.JSON200)

	var foods []client.BrandedFood
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.SearchBrandedFoodsParams{Category: of("Breads & Buns"), Limit: of(10), Cursor: cursor}
		page := done(api.SearchBrandedFoodsWithResponse(ctx, &params))
		tell(page.StatusCode(), page.JSON200)
		foods, cursor = append(foods, page.JSON200.Data...), page.JSON200.NextCursor
	}
	categories := done(api.GetBrandedFoodCategoriesWithResponse(ctx))
	tell(categories.StatusCode(), categories.JSON200)
	food := done(api.GetBrandedFoodWithResponse(ctx, foods[0].Id))
	tell(food.StatusCode(), food.JSON200)

	var store string
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		page := done(api.SearchStoresWithResponse(ctx, &client.SearchStoresParams{Limit: of(2), Cursor: cursor}))
		tell(page.StatusCode(), page.JSON200)
		for _, one := range page.JSON200.Data {
			if store == "" && one.CollectionCount > 0 {
				store = one.Id
			}
		}
		cursor = page.JSON200.NextCursor
	}
	found := done(api.GetStoreWithResponse(ctx, store))
	tell(found.StatusCode(), found.JSON200)
	var products []client.StoreProductSummary
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.GetStoreProductsParams{Limit: of(25), Cursor: cursor}
		page := done(api.GetStoreProductsWithResponse(ctx, store, &params))
		tell(page.StatusCode(), page.JSON200)
		products, cursor = append(products, page.JSON200.Data...), page.JSON200.NextCursor
	}
	for cursor, isFirst := (*string)(nil), true; isFirst || cursor != nil; isFirst = false {
		params := client.GetStoreCollectionsParams{Limit: of(3), Cursor: cursor}
		page := done(api.GetStoreCollectionsWithResponse(ctx, store, &params))
		tell(page.StatusCode(), page.JSON200)
		cursor = page.JSON200.NextCursor
	}
	product := done(api.GetProductWithResponse(ctx, products[0].Id))
	tell(product.StatusCode(), product.JSON200)

	invalid := done(api.GetCommodityPricesWithResponse(ctx, &client.GetCommodityPricesParams{Series: "gold"}))
	tell(invalid.StatusCode(), invalid.JSON400)
	unauthorized := done(connect("LARDER_UNKNOWN_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	tell(unauthorized.StatusCode(), unauthorized.JSON401)
	paused := done(connect("LARDER_PAUSED_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	tell(paused.StatusCode(), paused.JSON402)
	narrow := done(connect("LARDER_NARROW_KEY").GetBrandedFoodCategoriesWithResponse(ctx))
	tell(narrow.StatusCode(), narrow.JSON403)
	missing := done(api.GetBrandedFoodWithResponse(ctx, "no such food, é/?"))
	tell(missing.StatusCode(), missing.JSON404)
	broken := done(api.GetProductWithResponse(ctx, "broken"))
	tell(broken.StatusCode(), broken.JSON500)
	overloaded := done(api.GetProductWithResponse(ctx, "overloaded"))
	tell(overloaded.StatusCode(), overloaded.JSON503)
}
