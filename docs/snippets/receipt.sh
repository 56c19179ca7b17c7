#!/bin/sh
# KEY=vdm_… sh receipt.sh k7Qx2bVdT0mZr9LpYw3HsA > report.pdf.vidimus.json
set -eu
API="${API:-https://api.example.com}"

curl -sS --fail-with-body "$API/deposit/$1/receipt" -H "authorization: Bearer $KEY"
