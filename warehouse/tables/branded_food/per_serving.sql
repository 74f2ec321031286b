create or replace macro branded_food.millionths(number) as round(number::double * 1000000)::bigint
;
create or replace macro branded_food.rounded_half_even(whole, unit) as
  whole // unit + (2 * (whole % unit) + (whole // unit) % 2 > unit)::int
;
create or replace macro branded_food.without_digits(whole, dropped) as
  if(dropped <= 14, whole / pow(10, 14 - dropped), whole * pow(10, dropped - 14))
;
create or replace macro branded_food.digits_beyond_three(product) as greatest(floor(log10(product))::int + 10, 0)
;
create or replace macro branded_food.per_serving(amount, serving_size) as case
  when amount = 0 or serving_size = 0 then 0::double
  -- Whole millionths on both sides: their product is exact, in units of 10^-14 of the result; 64 bits hold it up to here.
  when abs(amount::double) * serving_size::double < 9000000 then sign(amount) * branded_food.without_digits(
    branded_food.rounded_half_even(
      abs(branded_food.millionths(amount)) * branded_food.millionths(serving_size),
      pow(10, branded_food.digits_beyond_three(abs(amount::double) * serving_size::double))::bigint
    ),
    branded_food.digits_beyond_three(abs(amount::double) * serving_size::double)
  )
  else sign(amount) * branded_food.without_digits(
    branded_food.rounded_half_even(
      abs(branded_food.millionths(amount))::hugeint * branded_food.millionths(serving_size)::hugeint,
      pow(10, branded_food.digits_beyond_three(abs(amount::double) * serving_size::double))::hugeint
    ),
    branded_food.digits_beyond_three(abs(amount::double) * serving_size::double)
  )
end
;
comment on macro branded_food.millionths is
  'A decimal number of at most six places as a whole number of millionths, so that what follows is exact.'
;
comment on macro branded_food.rounded_half_even is
  'How often a unit is in a whole number that is not negative: rounded, a half to the even neighbour.'
;
comment on macro branded_food.without_digits is
  'The number that a whole number means which counts units of 10^-14, after so many of its last digits were dropped.'
;
comment on macro branded_food.digits_beyond_three is
  'How many digits to drop of a product of two numbers of millionths, so that three are left. The product itself is given, not its millionths.'
;
comment on macro branded_food.per_serving is
  'Amount per serving from an amount per 100 g or ml and a serving size: their product divided by 100 in exact decimal arithmetic, rounded half to even to three significant digits.'
