-- Strings: literal doubled quotes become single ones, the brackets of [[…]] are removed, whitespace is trimmed and
-- collapsed, and an empty string is null. Nearly every string is tidy, and these tests together are faster than
-- trimming.
create or replace temp macro has_untidy_part(raw) as
  contains(raw, '  ') or contains(raw, '""') or contains(raw, '[[') or contains(raw, chr(9)) or contains(raw, chr(10))
  or contains(raw, chr(11)) or contains(raw, chr(12)) or contains(raw, chr(13)) or strlen(raw) <> length(raw);
create or replace temp macro is_untidy(raw) as
  raw = '' or starts_with(raw, ' ') or suffix(raw, ' ') or has_untidy_part(raw);
create or replace temp macro tidied(raw) as if(
  is_untidy(raw),
  nullif(
    trim(
      regexp_replace(
        regexp_replace(replace(raw, '""', '"'), '\[\[(.*?)\]\]', '\1', 'g'),
        '[\s\v\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+',
        ' ',
        'g'
      )
    ),
    ''
  ),
  raw
);
-- Accepts 85 and 85.0, but not 1.6 or -5, which a cast would accept.
create or replace temp macro whole(raw, number) as if(
  number >= 0 and (number::varchar = raw or regexp_full_match(trim(raw), '[0-9]+(\.0*)?')), number, null
);
create or replace temp macro whole_number(raw) as whole(raw, try_cast(raw as integer));
-- Nutrient ids of the source have four digits. An id of more than 18 bits does not fit into the sort key of an amount.
create or replace temp macro nutrient_id_of(number) as if(number < 262144, number, null);
create or replace temp macro nutrient_in(number) as
  nutrient_id_of(if(number >= 0 and number = floor(number), number, null))::integer;
create or replace temp macro is_unreadable_number(raw) as
  case when raw <> '' and try_cast(raw as decimal(18, 6)) is null then not is_placeholder(raw) else false end;
-- The rank of one of several rows of a nutrient, 0 is best: by the reliability of its derivation, and last without an amount.
create or replace temp macro rank_of(amount, reliability) as if(amount is null, 15, coalesce(reliability, 14));
-- The sort key of an amount within its food, as one number: nutrient (18 bits), its rank (4 bits), and the id in the
-- source, highest first (40 bits).
create or replace temp macro sort_key_of(nutrient_id, rank, id) as
  (nutrient_id::bigint << 44) + (rank::bigint << 40)
  + 1099511627775 - least(greatest(coalesce(id, 0), 0), 1099511627775);
-- Why an amount, or one of the label's own amounts, of a JSON file is rejected.
create or replace temp macro amount_problem(stated, place) as case
  when nutrient_in(stated.nutrient.id) is null
  then 'foodNutrients[' || place || '].nutrient.id is ' || coalesce(
    '"' || regexp_replace(stated.nutrient.id::varchar, '\.0$', '') || '", which is not the id of a nutrient', 'missing'
  )
  when is_unreadable_number(stated.amount)
  then 'foodNutrients[' || place || '].amount is "' || left(stated.amount, 60) || '", which is not a number'
end;
create or replace temp macro own_amount_problem(key, raw) as case
  when is_unreadable_number(raw) then 'labelNutrients.' || key || ' is "' || left(raw, 60) || '", which is not a number'
end;
-- What derivations said that no dictionary has, and what unreadable ids of attributes said.
create or replace temp macro odd_codes(amounts) as list_transform(
  list_filter(amounts, lambda amount: amount.derivation_id is null and not is_placeholder(amount.code)),
  lambda amount: {'field': 'foodNutrients.foodNutrientDerivation.code', 'said': amount.code}
);
create or replace temp macro odd_attribute_ids(attributes) as list_transform(
  list_filter(attributes, lambda attribute: try_cast(attribute.id as bigint) is null and not is_placeholder(attribute.id)),
  lambda attribute: {'field': 'foodAttributes.id', 'said': attribute.id}
);
-- Nearly every release uses the first spelling, and the column may be empty or missing.
create or replace temp macro is_branded(data_type) as case
  when data_type = 'branded_food' then true
  else coalesce(lower(trim(data_type)) in ('branded_food', 'branded') or is_placeholder(data_type), true)
end;

create or replace temp macro branded(raw) as if(upper(raw) = 'NOT A BRANDED ITEM', null, raw);
create or replace temp macro categorised(raw) as if(regexp_full_match(raw, '[0-9.,]*'), null, raw);

-- Days in either of two formats; null for anything else, such as 13/11/2020. A day with a time is that day, in any zone.
create or replace temp macro date_part_of(raw) as regexp_extract(
  trim(raw),
  '^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4})([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|GMT|[+-]\d{2}(:?\d{2})?))?)?$',
  1
);
create or replace temp macro day_in(date) as
  if(contains(date, '/'), try_strptime(date, '%m/%d/%Y'), try_strptime(date, '%Y-%m-%d'))::date;
create or replace temp macro day_of(raw) as day_in(case when strlen(raw) > 12 then date_part_of(raw) else trim(raw) end);
create or replace temp macro plausible(day) as if(day between date '1900-01-01' and date '2999-12-31', day, null);

-- A serving size that was stored as a 32-bit float has noise after its seventh digit. It becomes the shortest decimal
-- that gives the same float. Sizes of up to nine digits stay as they are.
create or replace temp macro is_noisy(size) as
  length(size) > 9 and contains(size, '.') and length(ltrim(replace(size, '.', ''), '0')) > 9
  and not contains(lower(size), 'e');
create or replace temp macro shortest_float(size) as try_cast(try_cast(size as float)::varchar as decimal(18, 6));

-- Barcodes without hyphens and spaces. If these are 1 to 14 digits, they are padded to a GTIN-14.
create or replace temp macro compact_gtin(raw) as if(
  contains(raw, '-') or contains(raw, ' '), replace(replace(raw, '-', ''), ' ', ''), raw
);
create or replace temp macro gtin_14_of(compact) as if(
  regexp_full_match(compact, '[0-9]{1,14}'), lpad(compact, 14, '0'), null
);
-- The check digit makes the weighted sum of all fourteen digits a multiple of ten.
create or replace temp macro digit(number, place) as (number // place) % 10;
create or replace temp macro has_check_digit(number) as (
  3 * (digit(number, 10000000000000) + digit(number, 100000000000) + digit(number, 1000000000) + digit(number, 10000000)
    + digit(number, 100000) + digit(number, 1000) + digit(number, 10))
  + digit(number, 1000000000000) + digit(number, 10000000000) + digit(number, 100000000) + digit(number, 1000000)
  + digit(number, 10000) + digit(number, 100) + digit(number, 1)
) % 10 = 0;

-- Suppliers fill in 0 or 1234 where they have no barcode, and shortened ones collide: codes of zeros alone, of fewer than
-- five digits, or of five to seven with a wrong check digit, are no barcode. Nearly all barcodes have 12 or more digits.
create or replace temp macro is_placeholder_gtin(compact) as case
  when starts_with(compact, '00000') and regexp_full_match(compact, '0+') then true
  when strlen(compact) < 8 then coalesce(
    regexp_full_match(compact, '[0-9]+') and (strlen(compact) < 5 or not has_check_digit(try_cast(compact as bigint))), false
  )
  else false
end;

-- MG, IU and MC are miscoded g or ml: ml if the household text or the category names a liquid, otherwise g.
create or replace temp macro is_liquid(household, category) as
  regexp_matches(lower(coalesce(household, '')), '\b(ml|mlt|milliliters?|l|liters?|fl|oza|bottles?|glass(es)?|shots?)\b|[0-9]ml\b')
  or regexp_matches(lower(coalesce(category, '')), '\b(beverages?|drinks?|juices?|sodas?|waters?|milk|tea|coffee|liquid|shakes?|smoothies?|oils?|syrups?)\b');
create or replace temp macro is_miscoded(unit) as upper(unit) in ('MG', 'IU', 'MC');
create or replace temp macro normalised_unit(unit, household, category) as case
  when lower(unit) in ('g', 'gm', 'grm') then 'g'
  when lower(unit) in ('ml', 'mlt') then 'ml'
  when is_miscoded(unit) then if(is_liquid(household, category), 'ml', 'g')
end;

-- A unit in the dictionary's spelling: CSV files and the API write G and UG, JSON files write g. The two letters µ of Unicode
-- are one in upper case.
-- A `case` with an operand repeats it for each `when`, and planning so long a query would take longer than running it.
create or replace temp macro spelled_unit(raw) as coalesce(
  ['g', 'mg', 'µg', 'µg', 'µg', 'kcal', 'kJ', 'IU', 'mg ATE', 'mg GAE', 'µg RE', 'µmol TE', 'pH', 'sp gr'][list_position(
    ['G', 'MG', 'UG', 'MCG', 'ΜG', 'KCAL', 'KJ', 'IU', 'MG_ATE', 'MG_GAE', 'MCG_RE', 'UMOL_TE', 'PH', 'SP_GR'],
    upper(tidied(raw))
  )],
  tidied(raw)
);
-- What converts g, mg and µg into each other; 1 for the same unit, and for one that is not stated. Null for any other: labels
-- round kJ and kcal each by their own rules, and IU of each vitamin weigh something else.
create or replace temp macro power_of(unit) as [0, -3, -6][list_position(['g', 'mg', 'µg'], unit)];
create or replace temp macro unit_factor(stated, own) as (case
  when stated is null or is_placeholder(stated) or spelled_unit(stated) = own then 1
  else [1000000, 1000, 1, 0.001, 0.000001][list_position([6, 3, 0, -3, -6], power_of(spelled_unit(stated)) - power_of(own))]
end)::decimal(13, 6);
-- Twelve decimal places, so that 0.0000004 g is 0.4 µg.
create or replace temp macro converted(amount, factor) as
  try_cast(try_cast(amount as decimal(24, 12)) * factor::decimal(13, 6) as decimal(18, 6));

-- Trade channels are a JSON array of strings; or codes, with commas between them. Null for anything else. json_type fails
-- for text that is not JSON, and only CASE skips it.
create or replace temp macro channels_in(raw) as case
  when raw in ('', '["NO_TRADE_CHANNEL"]') then []::varchar[]
  when is_placeholder(raw) then []::varchar[]
  when json_valid(raw) then case
    when json_type(raw) = 'ARRAY'
      and len(list_filter(json_extract(raw, '$[*]'), lambda channel: json_type(channel) not in ('VARCHAR', 'NULL'))) = 0
    then from_json(raw, '["VARCHAR"]')
  end
  when regexp_full_match(raw, '\s*[A-Z][A-Z_]*(\s*,\s*[A-Z][A-Z_]*)*\s*') then string_split(raw, ',')
end;
-- Trade channels without duplicates, in alphabetical order, without `NO_TRADE_CHANNEL`, which means "none".
create or replace temp macro channels_of(stated) as
  list_sort(list_filter(
    list_distinct(list_transform(stated, lambda channel: trim(channel))),
    lambda channel: channel <> 'NO_TRADE_CHANNEL' and case when strlen(channel) <= 4 then not is_placeholder(channel) else true end
  ))

