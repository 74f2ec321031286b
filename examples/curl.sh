#!/bin/sh
# The API with curl only (7.76 or newer): LARDER_API_KEY=... sh examples/curl.sh
# LARDER_URL is the address of the API. A run makes four paid calls and costs at most 40 credits.
set -eu
: "${LARDER_API_KEY:?set LARDER_API_KEY to an API key}"
url=${LARDER_URL:-http://127.0.0.1:8080}
url=${url%/} url=${url%/v1}

body=$(mktemp) headers=$(mktemp)
trap 'rm -f "$body" "$headers"' EXIT

# Makes one call, with the response in $body and $headers. The key is passed through a pipe, because every user of the machine
# can read arguments. --retry repeats most 5xx (and 408) with increasing waits, or after the time in Retry-After. The body of an
# error states the reason.
call() {
  path=$1
  shift
  : >"$body"
  printf 'Authorization: Bearer %s\n' "$LARDER_API_KEY" |
    curl --silent --show-error --header @- --retry 4 --retry-max-time 60 --fail-with-body \
      --output "$body" --dump-header "$headers" --get "$url/v1/$path" "$@" ||
    { status=$?; cat "$body" >&2; echo >&2; return $status; }
}
header() { grep -i "^$1:" "$headers" | tail -n 1 | cut -d ' ' -f 2 | tr -d '\r'; }

# Prices have the digits that were published, trailing zeros included.
call commodities/prices --data-urlencode series=cheese-block-sales-price-weekly --data-urlencode from=2026-08-29
cat "$body" && echo
echo "charged $(header x-credits-charged), left $(header x-credits-remaining), request $(header x-request-id)"

# Pages: next_cursor is sent as cursor until it is null, here for at most three pages. It is the last field of the body.
# The pages are small to show paging: a page costs the same at any size.
cursor=
for page in 1 2 3; do
  call branded-foods --data-urlencode category=cheese --data-urlencode limit=20 --data-urlencode "cursor=$cursor"
  echo "page $page: $(grep -o '"fdc_id":' "$body" | wc -l | tr -d ' ') foods"
  cursor=$(sed -n 's/.*"next_cursor":"\([^"]*\)"}$/\1/p' "$body")
  [ -n "$cursor" ] || break
done

# Errors cost nothing. curl exits with 22, and the body states the reason.
if ! call branded-foods --data-urlencode limit=500 2>/dev/null; then
  cat "$body" && echo
  echo "charged $(header x-credits-charged)"
fi
