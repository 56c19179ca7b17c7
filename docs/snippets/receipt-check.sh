curl -sS --fail https://example.com/log/policy -o policy
npm run --silent --prefix "$VIDIMUS" vidimus -- verify "$PWD/report.pdf" "$PWD/report.pdf.vidimus.json" --policy "$PWD/policy"
