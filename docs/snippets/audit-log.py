# python3 audit-log.py audit-2026-11-22.csv
# python3 audit-log.py audit-2026-11-22.csv 120 6b86b273…   (entry 120 had this hash at an earlier check)
import base64
import csv
import hashlib
import json
import re
import sys
from datetime import datetime, timezone

csv.field_size_limit(1 << 30)


def fail(seq, reason):
    print(f"Entry {seq} is broken: {reason}.")
    sys.exit(1)


def without_guards(text):
    return re.sub(r"(?:(?<=[,;\t\r\n])|^)'(?=[\"']*[=+\-@\t\r\0＝＋－＠])", "", text)


def cells_of(entry):
    seconds, ms = divmod(entry["at"], 1000)
    time = datetime.fromtimestamp(seconds, timezone.utc)
    return {
        "at": f"{time:%Y-%m-%dT%H:%M:%S}.{ms:03}Z",
        "actor_id": entry["actor"]["id"],
        "action": entry["action"],
        "target_id": entry["target"],
    }


def commitment_of(entry, salt, changes):
    names = ["vidimus/v1/commit", f"audit/{entry['company']}", entry["id"], "changes", ""]
    digest = hashlib.sha256("\0".join(names).encode() + salt + changes.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    rows = sorted(csv.DictReader(file), key=lambda row: int(row["seq"]))

seq, erased, digest, hashes = 0, 0, bytes(32), {}
for row in rows:
    seq += 1
    if int(row["seq"]) != seq:
        fail(seq, "it is missing")
    text = row["entry"].encode()
    digest = hashlib.sha256(b"vidimus/v1/audit\0" + digest + seq.to_bytes(8, "big") + text).digest()
    if digest.hex() != row["hash"]:
        fail(seq, "it does not follow from the entries before it")
    entry = json.loads(text)
    for name, cell in cells_of(entry).items():
        if row[name] != cell:
            fail(seq, f"its column {name} is not what was written")
    if "changes" in entry and not row["salt"]:
        erased += 1
    elif row["changes"] and "changes" not in entry:
        fail(seq, "its changed fields are not those that were written")
    elif row["changes"] and commitment_of(entry, bytes.fromhex(row["salt"]), without_guards(row["changes"])) != entry["changes"]:
        fail(seq, "its changed fields are not those that were written")
    hashes[seq] = row["hash"]

if len(sys.argv) > 2 and hashes.get(int(sys.argv[2])) != sys.argv[3]:
    fail(sys.argv[2], "it does not have the hash that was noted")
print(f"{seq} entries, {erased} of them with erased fields. The hash of the last one: {digest.hex()}")
