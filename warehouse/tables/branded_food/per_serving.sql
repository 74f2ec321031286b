create or replace macro branded_food.per_serving(amount, serving_size) as case
  -- not 0 if the other one is unknown
  when (amount = 0 and serving_size is not null) or (serving_size = 0 and amount is not null) then 0::double
  -- Both sides are whole millionths, so their product is exact, in units of 10^-14 of the result. All digits after the third
  -- are dropped, rounding half to even; 64 bits suffice below a million. The list of one struct gives names to values that are
  -- used several times. A macro in place of these terms would not be found from another database.
  else sign(amount) * list_transform(
    [{
      'amount': abs(round(amount::double * 1000000)::bigint),
      'serving_size': round(serving_size::double * 1000000)::bigint,
      'dropped': greatest(floor(log10(abs(amount::double) * serving_size::double))::int + 10, 0)
    }],
    lambda exact: if(
      exact.dropped < 16,
      (
        exact.amount * exact.serving_size + (
          pow(10, exact.dropped)::bigint - 1
          + (exact.amount * exact.serving_size // pow(10, exact.dropped)::bigint) % 2
        ) // 2
      ) // pow(10, exact.dropped)::bigint,
      (
        exact.amount::hugeint * exact.serving_size::hugeint + (
          pow(10, exact.dropped)::hugeint - 1
          + (exact.amount::hugeint * exact.serving_size::hugeint // pow(10, exact.dropped)::hugeint) % 2
        ) // 2
      ) // pow(10, exact.dropped)::hugeint
    ) * pow(10, greatest(exact.dropped - 14, 0)) / pow(10, greatest(14 - exact.dropped, 0))
  )[1]
end
;
comment on macro branded_food.per_serving is
  'Amount per serving from an amount per 100 g or ml and a serving in g or ml: their product divided by 100 in exact decimal arithmetic, rounded half to even to three significant digits.'
