#!/bin/sh
# The API with curl alone (7.76 or newer): LARDER_API_KEY=... sh examples/curl.sh
# LARDER_URL is where the API is. A run makes four paid calls and costs 40 credits at most.
set -eu
: "${LARDER_API_KEY:?set LARDER_API_KEY to an API key}"
url=${LARDER_URL:-http://127.0.0.1:8080}

answer=$(mktemp) headers=$(mktemp)
trap 'rm -f "$answer" "$headers"' EXIT

# One call, its body in $answer. The key goes in by a pipe: arguments can be read by everybody on the machine. --retry repeats
# 5xx with growing waits, or those that Retry-After asks for (408 and 429, too, which the API never answers). What is wrong
# stands in the body.
call() {
  path=$1
  shift
  : >"$answer"
  printf 'Authorization: Bearer %s\n' "$LARDER_API_KEY" |
    curl --silent --show-error --header @- --retry 4 --retry-max-time 60 --fail-with-body \
      --output "$answer" --dump-header "$headers" --get "$url/v1/$path" "$@" ||
    { status=$?; cat "$answer" >&2; echo >&2; return $status; }
}
header() { grep -i "^$1:" "$headers" | tail -n 1 | cut -d ' ' -f 2 | tr -d '\r'; }

# Prices have the digits that were published, trailing zeros included.
call commodities/prices --data-urlencode series=cheese-block-sales-price-weekly --data-urlencode from=2026-08-29
cat "$answer" && echo
echo "charged $(header x-credits-charged), left $(header x-credits-remaining), request $(header x-request-id)"

# Pages: next_cursor goes back as cursor until it is null; here for three pages at most. It is the last field of the body.
# Small pages, to show how they are followed: one costs the same whatever its size.
cursor=
for page in 1 2 3; do
  call branded-foods --data-urlencode category=cheese --data-urlencode limit=20 --data-urlencode "cursor=$cursor"
  echo "page $page: $(grep -o '"fdc_id":' "$answer" | wc -l | tr -d ' ') foods"
  cursor=$(sed -n 's/.*"next_cursor":"\([^"]*\)"}$/\1/p' "$answer")
  [ -n "$cursor" ] || break
done

# Errors cost nothing. curl ends with 22, and the body says what is wrong.
if ! call branded-foods --data-urlencode limit=500 2>/dev/null; then
  cat "$answer" && echo
  echo "charged $(header x-credits-charged)"
fi
