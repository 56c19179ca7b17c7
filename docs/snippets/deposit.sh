#!/bin/sh
# KEY=vdm_… sh deposit.sh report.pdf
set -eu
API="${API:-https://api.example.com}"

curl -sS --fail-with-body -T "$1" "$API/deposit" \
  --url-query "name=$(basename "$1")" \
  -H "authorization: Bearer $KEY"
