# KEY=vdm_… python3 deposit.py report.pdf
import os
import sys
import urllib.parse
import urllib.request

api = os.environ.get("API", "https://api.example.com")
path = sys.argv[1]

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
        },
    )
    with urllib.request.urlopen(request) as response:
        print(response.read().decode())
