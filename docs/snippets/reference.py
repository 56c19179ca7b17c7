# REGISTER=019d… python3 reference.py 2026-0117 Vale 1999-03-14
import json
import os
import sys
import urllib.error
import urllib.request

api = os.environ.get("API", "https://api.example.com")
reference, *fields = sys.argv[1:]
item = {"reference": reference, "data_source": os.environ["REGISTER"], "fields": fields}

request = urllib.request.Request(
    f"{api}/verify",
    data=json.dumps({"items": [item]}).encode(),
    headers={"content-type": "application/json"},
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.read().decode())
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
