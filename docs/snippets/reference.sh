#!/bin/sh
# REGISTER=019d… sh reference.sh 2026-0117 Vale 1999-03-14
set -eu
API="${API:-https://api.example.com}"

quoted() { printf %s "$1" | sed 's/[\\"]/\\&/g; s/.*/"&"/'; }
reference=$(quoted "$1")
shift
fields=
for value in "$@"; do fields="$fields${fields:+,}$(quoted "$value")"; done
curl -sS --fail-with-body "$API/verify" \
  -H 'content-type: application/json' \
  -d "{\"items\":[{\"reference\":$reference,\"data_source\":\"$REGISTER\",\"fields\":[$fields]}]}"
