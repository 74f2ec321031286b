-- Rows of all feeds as received, one table per kind of row, in a file of the run. `seq` numbers rows in arrival order.
create table feed.product (
  domain varchar, seq bigint, native_id varchar, title varchar, handle varchar, vendor varchar, product_type varchar,
  stated_category varchar, tags varchar[], body_text varchar, published_at timestamp, created_at timestamp,
  is_published boolean, price_range struct(min decimal(18, 4), max decimal(18, 4)), is_merchandise boolean, fetched_at timestamp, raw_sha256 varchar
);
create table feed.variant (
  domain varchar, seq bigint, product_native_id varchar, native_id varchar, title varchar, sku varchar, sent_sku varchar,
  barcode varchar, price decimal(18, 4), compare_at_price decimal(18, 4), currency varchar, grams double, available boolean,
  option1 varchar, option2 varchar, option3 varchar, position bigint, image_src varchar, requires_shipping boolean,
  raw_sha256 varchar
);
create table feed.image (
  domain varchar, seq bigint, product_native_id varchar, position bigint, src varchar, width integer, height integer,
  source_row bigint
);
create table feed.collection (
  domain varchar, seq bigint, native_id varchar, title varchar, handle varchar, description varchar,
  image struct(src varchar, width integer, height integer), published_at timestamp, updated_at timestamp,
  fetched_at timestamp, raw_sha256 varchar
);
create table feed.member (
  domain varchar, seq bigint, collection_native_id varchar, product_native_id varchar, position bigint
);
-- The category of each product, found after all products of its store are staged.
create table feed.category (
  seq bigint, category varchar, sub_category varchar, category_method varchar, category_confidence double,
  category_evidence varchar
);
-- Number of payload rows per product, even if no product row exists: every row that was read has to be accounted for.
create table feed.row_count (domain varchar, product_native_id varchar, rows bigint, raw_sha256 varchar);
-- Products and collections that a feed lists in rejected rows. `native_id` is null if the row does not tell it. The
-- reject itself is in `ingest.reject`, with the same payload and position.
create table feed.rejected (
  domain varchar, kind varchar, native_id varchar, position bigint, raw_sha256 varchar
);
-- Strings that exceeded their limit; the other tables contain them shortened.
create table feed.truncation (
  domain varchar, seq bigint, native_id varchar, field varchar, characters integer, beginning varchar, raw_sha256 varchar
);
-- The stores that were read. In a file, rows of one product are its variants, not the same product again.
create table feed.store (domain varchar, currency varchar, is_file boolean);

-- Ids derive from the domain and the feed's own id. 96 bits: the probability that two of a billion ids are equal is
-- 10^-11.
create or replace temp macro id_of(kind, domain, native) as
  'platform_' || kind || '_' || left(sha256(kind || chr(10) || domain || chr(10) || native), 24)
;
