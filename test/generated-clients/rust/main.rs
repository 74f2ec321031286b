//! Calls all operations with the client of OpenAPI Generator: one line of JSON per response.
use chrono::NaiveDate;
use openapi::apis::branded_foods_api::*;
use openapi::apis::commodities_api::*;
use openapi::apis::configuration::Configuration;
use openapi::apis::storefronts_api::*;
use openapi::apis::Error;
use serde::Serialize;
use serde_json::json;
use std::env::var;

fn connect(key: &str) -> Configuration {
    Configuration {
        base_path: var("LARDER_URL").unwrap(),
        bearer_access_token: Some(var(key).unwrap()),
        ..Configuration::new()
    }
}

/// Prints the response, or the content of the error of this status.
fn show<A: Serialize, E: Serialize>(response: Result<A, Error<E>>) -> Option<A> {
    let (line, data) = match response {
        Ok(body) => (json!({ "status": 200, "body": body }), Some(body)),
        Err(Error::ResponseError(error)) => {
            (json!({ "status": error.status.as_u16(), "body": error.entity }), None)
        }
        Err(error) => panic!("{error}"),
    };
    println!("{line}");
    data
}

fn day(year: i32, month: u32, date: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, month, date)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let api = connect("LARDER_API_KEY");

    show(search_commodities(&api, Some("butter"), None, None, None).await);
    show(search_commodities(&api, None, None, None, None).await);
    let mut cursor: Option<String> = None;
    loop {
        let page = show(search_commodities(&api, None, Some("dairy"), Some(8), cursor.as_deref()).await).unwrap();
        cursor = page.next_cursor.flatten();
        if cursor.is_none() { break }
    }
    let series = "cheese-block-sales-price-weekly,milk-class-iii-price-monthly";
    show(get_commodity_prices(&api, series, day(2026, 8, 1), day(2026, 9, 30)).await);
    let metrics = "butter_sales_price_weekly,dry_whey_sales_price_weekly";
    show(get_commodity_metric_values(&api, metrics, day(2026, 8, 29), None).await);

    let mut foods = Vec::new();
    loop {
        let category = Some("Breads & Buns");
        let page = search_branded_foods(&api, None, None, category, None, None, Some(10), cursor.as_deref()).await;
        let page = show(page).unwrap();
        foods.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() { break }
    }
    show(get_branded_food_categories(&api).await);
    show(get_branded_food(&api, &foods[0].id).await);

    let mut stores = Vec::new();
    loop {
        let page = show(search_stores(&api, None, None, None, Some(2), cursor.as_deref()).await).unwrap();
        stores.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() { break }
    }
    let store = &stores.iter().find(|store| store.collection_count > 0).unwrap().id;
    show(get_store(&api, store).await);
    let mut products = Vec::new();
    loop {
        let page = show(get_store_products(&api, store, Some(25), cursor.as_deref()).await).unwrap();
        products.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() { break }
    }
    loop {
        let page = show(get_store_collections(&api, store, Some(3), cursor.as_deref()).await).unwrap();
        cursor = page.next_cursor;
        if cursor.is_none() { break }
    }
    show(get_product(&api, &products[0].id).await);

    show(get_commodity_prices(&api, "gold", None, None).await);
    for key in ["LARDER_UNKNOWN_KEY", "LARDER_PAUSED_KEY", "LARDER_NARROW_KEY"] {
        show(get_branded_food_categories(&connect(key)).await);
    }
    show(get_branded_food(&api, "no such food, é/?").await);
    show(get_product(&api, "broken").await);
    show(get_product(&api, "overloaded").await);
}
