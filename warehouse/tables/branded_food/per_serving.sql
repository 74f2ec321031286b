create schema if not exists internal
;
create or replace macro internal.millionths(number) as round(number::double * 1000000)::bigint
;
create or replace macro internal.rounded_half_even(whole, unit) as
  (whole + (unit - 1 + (whole // unit) % 2) // 2) // unit
;
create or replace macro internal.without_digits(whole, dropped) as
  if(dropped <= 14, whole / pow(10, 14 - dropped), whole * pow(10, dropped - 14))
;
create or replace macro internal.digits_beyond_three(product) as greatest(floor(log10(product))::int + 10, 0)
;
create or replace macro branded_food.per_serving(amount, serving_size) as case
  -- not 0 if the other one is unknown
  when (amount = 0 and serving_size is not null) or (serving_size = 0 and amount is not null) then 0::double
  -- Both sides are whole millionths, so their product is exact, in units of 10^-14 of the result; 64 bits suffice below a million.
  -- The list of one struct gives names to values that are used several times: a macro would repeat its arguments, and a query
  -- would take twice as long to plan.
  else sign(amount) * list_transform(
    [{
      'amount': abs(internal.millionths(amount)),
      'serving_size': internal.millionths(serving_size),
      'dropped': internal.digits_beyond_three(abs(amount::double) * serving_size::double)
    }],
    lambda exact: internal.without_digits(
      if(
        exact.dropped < 16,
        internal.rounded_half_even(exact.amount * exact.serving_size, pow(10, exact.dropped)::bigint),
        internal.rounded_half_even(
          exact.amount::hugeint * exact.serving_size::hugeint,
          pow(10, exact.dropped)::hugeint
        )
      ),
      exact.dropped
    )
  )[1]
end
;
comment on macro internal.millionths is
  'Converts a decimal number with at most six places to a whole number of millionths, for exact arithmetic.'
;
comment on macro internal.rounded_half_even is
  'Divides a whole number, which is not negative, by a unit, and rounds half to even.'
;
comment on macro internal.without_digits is
  'Converts a whole number of units of 10^-14, of which the last digits were dropped, to the number that it represents.'
;
comment on macro internal.digits_beyond_three is
  'Number of digits to drop from a product of two numbers of millionths so that three are left. The argument is the product itself, not its millionths.'
;
comment on macro branded_food.per_serving is
  'Amount per serving from an amount per 100 g or ml and a serving in g or ml: their product divided by 100 in exact decimal arithmetic, rounded half to even to three significant digits.'
