# python3 verify.py report.pdf
import hashlib
import json
import os
import sys
import urllib.error
import urllib.request

api = os.environ.get("API", "https://api.example.com")

digest = hashlib.sha256()
with open(sys.argv[1], "rb") as file:
    while chunk := file.read(1 << 20):
        digest.update(chunk)

request = urllib.request.Request(
    f"{api}/verify",
    data=json.dumps({"items": [{"sha256": digest.hexdigest()}]}).encode(),
    headers={"content-type": "application/json"},
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.read().decode())
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
