import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.BrandedFoodsApi;
import org.openapitools.client.api.CommoditiesApi;
import org.openapitools.client.api.StorefrontsApi;
import org.openapitools.client.model.*;

/** All operations by the client that OpenAPI Generator has generated: one line of JSON for each answer. */
public class Program {
  interface Call<A> {
    ApiResponse<A> send() throws ApiException;
  }

  static final ObjectMapper mapper = new ApiClient().getObjectMapper();

  static ApiClient client(String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("LARDER_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv(key)));
    return client;
  }

  static <A> A tell(Call<A> call) throws Exception {
    Map<String, Object> line = new LinkedHashMap<>();
    A answer = null;
    try {
      ApiResponse<A> response = call.send();
      answer = response.getData();
      line.put("status", response.getStatusCode());
      line.put("body", answer);
    } catch (ApiException error) {
      line.put("status", error.getCode());
      line.put("body", mapper.readValue(error.getResponseBody(), org.openapitools.client.model.Error.class));
    }
    System.out.println(mapper.writeValueAsString(line));
    return answer;
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient all = client("LARDER_API_KEY");
    CommoditiesApi commodities = new CommoditiesApi(all);
    BrandedFoodsApi foods = new BrandedFoodsApi(all);
    StorefrontsApi storefronts = new StorefrontsApi(all);

    tell(() -> commodities.searchCommoditiesWithHttpInfo("butter", null, null, null));
    tell(() -> commodities.searchCommoditiesWithHttpInfo(null, null, null, null));
    String cursor = null;
    do {
      String at = cursor;
      cursor = tell(() -> commodities.searchCommoditiesWithHttpInfo(null, "dairy", 8, at)).getNextCursor();
    } while (cursor != null);
    tell(() -> commodities.getCommodityPricesWithHttpInfo(
        "cheese-block-sales-price-weekly,milk-class-iii-price-monthly",
        LocalDate.of(2026, 8, 1), LocalDate.of(2026, 9, 30)));
    tell(() -> commodities.getCommodityMetricValuesWithHttpInfo(
        "butter_sales_price_weekly,dry_whey_sales_price_weekly", LocalDate.of(2026, 8, 29), null));

    List<BrandedFood> labels = new ArrayList<>();
    do {
      String at = cursor;
      SearchBrandedFoods200Response page = tell(() ->
          foods.searchBrandedFoodsWithHttpInfo(null, null, "Breads & Buns", null, null, 10, at));
      labels.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    tell(() -> foods.getBrandedFoodCategoriesWithHttpInfo());
    tell(() -> foods.getBrandedFoodWithHttpInfo(labels.get(0).getId()));

    List<Store> stores = new ArrayList<>();
    do {
      String at = cursor;
      SearchStores200Response page = tell(() -> storefronts.searchStoresWithHttpInfo(null, null, null, 2, at));
      stores.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    String store = stores.stream().filter(one -> one.getCollectionCount() > 0).findFirst().orElseThrow().getId();
    tell(() -> storefronts.getStoreWithHttpInfo(store));
    List<StoreProductSummary> products = new ArrayList<>();
    do {
      String at = cursor;
      GetStoreProducts200Response page = tell(() -> storefronts.getStoreProductsWithHttpInfo(store, 25, at));
      products.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    do {
      String at = cursor;
      cursor = tell(() -> storefronts.getStoreCollectionsWithHttpInfo(store, 3, at)).getNextCursor();
    } while (cursor != null);
    tell(() -> storefronts.getProductWithHttpInfo(products.get(0).getId()));

    tell(() -> commodities.getCommodityPricesWithHttpInfo("gold", null, null));
    for (String key : List.of("LARDER_UNKNOWN_KEY", "LARDER_PAUSED_KEY", "LARDER_NARROW_KEY")) {
      tell(() -> new BrandedFoodsApi(client(key)).getBrandedFoodCategoriesWithHttpInfo());
    }
    tell(() -> foods.getBrandedFoodWithHttpInfo("no such food, é/?"));
    tell(() -> storefronts.getProductWithHttpInfo("broken"));
    tell(() -> storefronts.getProductWithHttpInfo("overloaded"));
  }
}
