#!/bin/sh
# KEY=vdm_… sh history.sh
set -eu
API="${API:-https://api.example.com}"

curl -sS --fail-with-body "$API/process?limit=50" \
  -H "authorization: Bearer $KEY"
