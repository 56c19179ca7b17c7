#!/bin/sh
# KEY=vdm_… sh deposit.sh report.pdf
set -eu
API="${API:-https://api.example.com}"
# to repeat a call whose answer was lost, send it with the same key
idempotency_key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')

curl -sS --fail-with-body -T "$1" "$API/deposit" \
  --url-query "name=$(basename "$1")" \
  -H "authorization: Bearer $KEY" -H "idempotency-key: $idempotency_key"
