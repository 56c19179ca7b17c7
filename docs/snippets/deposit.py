# KEY=vdm_… python3 deposit.py report.pdf
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid

api = os.environ.get("API", "https://api.example.com")
path = sys.argv[1]
# to repeat a call whose answer was lost, send it with the same key
idempotency_key = str(uuid.uuid4())

query = urllib.parse.urlencode({"name": os.path.basename(path)})
with open(path, "rb") as file:
    request = urllib.request.Request(
        f"{api}/deposit?{query}",
        method="PUT",
        data=file,
        headers={
            "authorization": f"Bearer {os.environ['KEY']}",
            "content-type": "application/octet-stream",
            "content-length": str(os.path.getsize(path)),
            "idempotency-key": idempotency_key,
        },
    )
    try:
        with urllib.request.urlopen(request) as response:
            print(response.read().decode())
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode())
