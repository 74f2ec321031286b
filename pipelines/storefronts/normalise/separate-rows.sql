-- Separates the staged rows that are not assembled: duplicates, rows without a product, rows of unpublished products,
-- and variants and pictures beyond the limits. Rows whose data is dropped become rejects. Reads the variable `run_id`.

-- The payload of a reject. A later run recognises it by its text, so it lacks what differs from run to run, such as the line
-- in a file that has got more lines, and the SKU that only ids need.
create or replace temp macro payload_of(staged) as json_merge_patch(
  to_json(staged), '{"seq": null, "raw_sha256": null, "position": null, "source_row": null, "sent_sku": null}'
)::varchar;

-- Rows of an export with the same handle and options but different SKUs are separate variants. Each of them gets its SKU
-- appended to its id, so that ids do not depend on the order of the rows. No other id contains the escape sequence `\#`:
-- see `shopify-csv.ts`.
update feed.variant v
set native_id = v.native_id || '\#' || coalesce(v.sent_sku, v.sku)
from (
  select domain, product_native_id, native_id
  from feed.variant join feed.store using (domain)
  where is_file and sku is not null
  group by all having count(distinct coalesce(sent_sku, sku)) > 1
) shared
where v.sku is not null and v.domain = shared.domain and v.product_native_id = shared.product_native_id
  and v.native_id = shared.native_id;

-- If several rows have the same id, the first one is used.
create table feed.first_product as
select domain, native_id, min(seq) as seq, arg_min(is_published, seq) as is_published
from feed.product group by domain, native_id;

create table feed.first_variant as
select domain, product_native_id, native_id, min(seq) as seq from feed.variant group by all;

create table feed.first_collection as
select domain, native_id, min(seq) as seq from feed.collection group by all;

-- Rejected rows of drafts say nothing about what the store lists.
delete from feed.rejected
where kind = 'product'
  and (domain, native_id) in (select (domain, native_id) from feed.first_product where not is_published);

create view feed.published as
select domain, native_id as product_native_id from feed.first_product where is_published;

-- Duplicate variants of files. In a file every row describes one variant, so a row whose id repeats is rejected, with its
-- pictures; a shop's pages only overlap. Rows of unpublished products are left out as a whole and are not duplicates.
create table feed.duplicate_variant as
select v.domain, v.product_native_id, v.seq, v.position
from feed.variant v
join feed.store using (domain)
semi join feed.published using (domain, product_native_id)
anti join feed.first_variant f using (seq)
where is_file;

insert into ingest.reject
select 'storefronts', 'store/' || v.domain, getvariable('run_id'), v.raw_sha256, v.position,
  'duplicate id ' || v.native_id || ' (first seen in an earlier row)', payload_of(v)
from feed.variant v semi join feed.duplicate_variant using (seq);

-- Deleted before the excess pictures are counted, or they would take the places of pictures of rows that are used.
delete from feed.image i using feed.duplicate_variant d
where d.domain = i.domain and d.position = i.source_row;

-- A million rows of a file may name the same product, and so may hundreds of pages. Shopify allows 2048 variants and 250
-- pictures of a product; the first 2048 and 1000 are kept here, since a product becomes a single row. Pictures are
-- distinguished by their addresses.
create table feed.excess_variant as
select domain, product_native_id, seq
from feed.first_variant
semi join (select domain, product_native_id from feed.first_variant group by all having count(*) > 2048)
  using (domain, product_native_id)
qualify row_number() over (partition by domain, product_native_id order by seq) > 2048;

create table feed.excess_picture as
select domain, product_native_id, src, min(seq) as seq
from feed.image
semi join (select domain, product_native_id from feed.image group by all having count(*) > 1000)
  using (domain, product_native_id)
group by domain, product_native_id, src
qualify row_number() over (partition by domain, product_native_id order by min(position), min(seq)) > 1000;

-- One reject per product, with the first row beyond the limit.
create table feed.excess as
with excess as (
  select domain, product_native_id as native_id, 'variants' as parts, '2048' as maximum, min(seq) as seq, count(*) as rows
  from feed.excess_variant group by all
  union all
  select domain, product_native_id, 'pictures', '1000', min(seq), count(*) from feed.excess_picture group by all
),
left_out as (
  select seq, position, payload_of(v) as payload from feed.variant v where seq in (select seq from excess)
  union all
  select seq, position, payload_of(i) from feed.image i where seq in (select seq from excess)
)
select excess.domain, excess.native_id, parts, product.raw_sha256, coalesce(left_out.position, 0) as position,
  product.native_id || ' has more than ' || maximum || ' ' || parts || '; left out: ' || excess.rows as reason, payload
from excess
join feed.first_product stated using (domain, native_id)
join feed.product product on product.seq = stated.seq
join left_out on left_out.seq = excess.seq
where stated.is_published;

insert into ingest.reject
select 'storefronts', 'store/' || domain, getvariable('run_id'), raw_sha256, position, reason, payload from feed.excess;

insert into feed.rejected by name
select domain, 'product' as kind, native_id, position, raw_sha256 from feed.excess where parts = 'variants';

delete from feed.first_variant where seq in (select seq from feed.excess_variant);
delete from feed.image
where (domain, product_native_id, src) in (select (domain, product_native_id, src) from feed.excess_picture);

-- Rows of files that are dropped because they exceed the limit of variants. In pages a row is a whole product, and a
-- row whose picture exceeds the limit keeps its variant.
create view feed.excess_row as
select domain, product_native_id
from feed.excess_variant join feed.store using (domain) semi join feed.published using (domain, product_native_id)
where is_file;

-- Rows of products that have no row with a title.
create view feed.orphan as
select domain, product_native_id, sum(rows)::bigint as rows, any_value(raw_sha256) as raw_sha256
from feed.row_count b anti join feed.first_product p on p.domain = b.domain and p.native_id = b.product_native_id
group by all;

create table feed.orphan_reject as
select o.domain, o.product_native_id as native_id, any_value(o.raw_sha256) as raw_sha256,
  coalesce(min(v.position), 0) as position,
  'no row of product ' || o.product_native_id || ' has a title; rows: ' || any_value(o.rows) as reason,
  coalesce(
    payload_of(arg_min(v, v.seq) filter (where v.native_id is not null)),
    json_object('product_native_id', o.product_native_id)::varchar
  ) as payload
from feed.orphan o
left join feed.variant v on v.domain = o.domain and v.product_native_id = o.product_native_id
group by o.domain, o.product_native_id;

insert into ingest.reject
select 'storefronts', 'store/' || domain, getvariable('run_id'), raw_sha256, position, reason, payload
from feed.orphan_reject;

insert into feed.rejected by name
select domain, 'product' as kind, native_id, position, raw_sha256 from feed.orphan_reject;

insert into ingest.reject
select 'storefronts', 'store/' || domain, getvariable('run_id'), arg_min(raw_sha256, seq), 0,
  if(count(*) = 1, '1 text was too long and was truncated: ', count(*) || ' texts were too long and were truncated; the first: ')
    || arg_min(field, seq) || ' of '
    || arg_min(native_id, seq) || ', with ' || arg_min(characters, seq) || ' characters',
  json_object(arg_min(field, seq), arg_min(beginning, seq))::varchar
from feed.truncation group by domain;

-- Number of payload rows per product of a file. In a shop's pages, a repeated entry is the same product.
create table feed.source_rows as
with rejected_rows as (
  select domain, product_native_id, count(*) as rows
  from (select domain, product_native_id from feed.duplicate_variant union all from feed.excess_row)
  group by all
)
select domain, product_native_id as native_id, (sum(b.rows) - coalesce(any_value(rejected_rows.rows), 0))::integer as rows
from feed.row_count b join feed.store using (domain) left join rejected_rows using (domain, product_native_id)
where is_file group by all;
