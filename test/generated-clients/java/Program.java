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

/** Calls all operations with the client of OpenAPI Generator: one line of JSON per response. */
public class Program {
  interface Call<A> {
    ApiResponse<A> send() throws ApiException;
  }

  static final ObjectMapper mapper = new ApiClient().getObjectMapper();

  static ApiClient connect(String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("LARDER_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv(key)));
    return client;
  }

  static <A> A print(Call<A> call) throws Exception {
    Map<String, Object> line = new LinkedHashMap<>();
    A data = null;
    try {
      ApiResponse<A> response = call.send();
      data = response.getData();
      line.put("status", response.getStatusCode());
      line.put("body", data);
    } catch (ApiException error) {
      line.put("status", error.getCode());
      line.put("body", mapper.readValue(error.getResponseBody(), org.openapitools.client.model.Error.class));
    }
    System.out.println(mapper.writeValueAsString(line));
    return data;
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient apiClient = connect("LARDER_API_KEY");
    CommoditiesApi commodities = new CommoditiesApi(apiClient);
    BrandedFoodsApi foods = new BrandedFoodsApi(apiClient);
    StorefrontsApi storefronts = new StorefrontsApi(apiClient);

    print(() -> commodities.searchCommoditiesWithHttpInfo("butter", null, null, null));
    print(() -> commodities.searchCommoditiesWithHttpInfo(null, null, null, null));
    String cursor = null;
    do {
      String current = cursor;
      cursor = print(() -> commodities.searchCommoditiesWithHttpInfo(null, "dairy", 8, current)).getNextCursor();
    } while (cursor != null);
    print(() -> commodities.getCommodityPricesWithHttpInfo(
        "cheese-block-sales-price-weekly,milk-class-iii-price-monthly",
        LocalDate.of(2026, 8, 1), LocalDate.of(2026, 9, 30)));
    print(() -> commodities.getCommodityMetricValuesWithHttpInfo(
        "butter_sales_price_weekly,dry_whey_sales_price_weekly", LocalDate.of(2026, 8, 29), null));

    List<BrandedFood> labels = new ArrayList<>();
    do {
      String current = cursor;
      SearchBrandedFoods200Response page = print(() ->
          foods.searchBrandedFoodsWithHttpInfo(null, null, "Breads & Buns", null, null, 10, current));
      labels.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    print(() -> foods.getBrandedFoodCategoriesWithHttpInfo());
    print(() -> foods.getBrandedFoodWithHttpInfo(labels.get(0).getId()));

    List<Store> stores = new ArrayList<>();
    do {
      String current = cursor;
      SearchStores200Response page = print(() -> storefronts.searchStoresWithHttpInfo(null, null, null, 2, current));
      stores.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    String store =
        stores.stream().filter(candidate -> candidate.getCollectionCount() > 0).findFirst().orElseThrow().getId();
    print(() -> storefronts.getStoreWithHttpInfo(store));
    List<StoreProductSummary> products = new ArrayList<>();
    do {
      String current = cursor;
      GetStoreProducts200Response page = print(() -> storefronts.getStoreProductsWithHttpInfo(store, 25, current));
      products.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    do {
      String current = cursor;
      cursor = print(() -> storefronts.getStoreCollectionsWithHttpInfo(store, 3, current)).getNextCursor();
    } while (cursor != null);
    print(() -> storefronts.getProductWithHttpInfo(products.get(0).getId()));

    print(() -> commodities.getCommodityPricesWithHttpInfo("gold", null, null));
    for (String key : List.of("LARDER_UNKNOWN_KEY", "LARDER_PAUSED_KEY", "LARDER_NARROW_KEY")) {
      print(() -> new BrandedFoodsApi(connect(key)).getBrandedFoodCategoriesWithHttpInfo());
    }
    print(() -> foods.getBrandedFoodWithHttpInfo("no such food, é/?"));
    print(() -> storefronts.getProductWithHttpInfo("broken"));
    print(() -> storefronts.getProductWithHttpInfo("overloaded"));
  }
}
