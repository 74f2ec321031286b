create or replace macro branded_food.millionths(number) as round(number::double * 1000000)::bigint
;
create or replace macro branded_food.rounded_half_even(whole, unit) as
  whole // unit + (2 * (whole % unit) + (whole // unit) % 2 > unit)::int
;
create or replace macro branded_food.three_digits(whole, dropped) as
  branded_food.rounded_half_even(whole, pow(10, greatest(dropped, 0))::bigint) / pow(10, 14 - greatest(dropped, 0))
;
create or replace macro branded_food.per_serving(amount, serving_size) as case
  when amount = 0 then 0
  -- Whole millionths on both sides: their product is exact, in units of 10^-14 of the result, and fits up to here.
  when abs(amount::double) * serving_size::double < 9000000 then sign(amount) * branded_food.three_digits(
    abs(branded_food.millionths(amount) * branded_food.millionths(serving_size)),
    floor(log10(abs(amount::double) * serving_size::double))::int + 10
  )
  else sign(amount) * branded_food.three_digits(
    abs(branded_food.millionths(amount)::hugeint * branded_food.millionths(serving_size)::hugeint) // 1000000,
    floor(log10(abs(amount::double) * serving_size::double))::int + 4
  ) * 1000000
end
;
comment on macro branded_food.per_serving is
  'Amount per serving from an amount per 100 g or ml and a serving size: their product divided by 100 in exact decimal arithmetic, rounded half to even to three significant digits.'
