#!/usr/bin/env python3
"""Checks a receipt of Vidimus as docs/receipt-format.md says, and is written from that page alone.

    python3 verify_receipt.py FILE RECEIPT [--key VKEY | --policy FILE] [--json]

Needs Python 3.9 or later and the package `cryptography` (Debian: python3-cryptography).
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import re
import sys
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EXIT_STATUS = {
    "log_broken": 50,
    "receipt_broken": 51,
    "indeterminate": 60,
    "differs": 40,
    "expired": 20,
    "authentic": 11,
    "matches": 13,
}
UNUSABLE = 64

NOTHING_KNOWN = {"match": "none", "original_declared": False, "issuer": "unknown"}

FIELDS = [
    "orig", "stored", "transform", "time", "expires", "actor",
    "bytes", "category", "name", "media", "visibility", "sig",
]  # fmt: skip


class Refused(Exception):
    """Something is not as the page says. The caller knows which reason that is."""


class UnknownVersion(Exception):
    """Something was written by a later version of the format."""


class Failed(Exception):
    """A step failed, for a reason with a name."""


def require(condition):
    if not condition:
        raise Refused


# Bytes and texts


def sha256(data):
    return hashlib.sha256(data).digest()


def read_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused from None
    # Python forgives superfluous padding and bits after the end: compare with the one spelling.
    require(base64.b64encode(data).decode() == text)
    return data


def read_base64url(text, size):
    require(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text))
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    data = read_base64(padded)
    require(len(data) == size)
    return data


def read_number(text):
    # The length comes first, because Python refuses to convert very long numbers.
    require(re.fullmatch(r"0|[1-9][0-9]{0,18}", text) and int(text) < 2**63)
    return int(text)


def is_fingerprint(text):
    return re.fullmatch(r"sha256:[0-9a-f]{64}", text) is not None


def is_time(text):
    numbers = re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z", text
    )
    if not numbers:
        return False
    year, month, day, hour, minute, second = (int(number) for number in numbers.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (
        1 <= month <= 12
        and 1 <= day <= days[month - 1]
        and hour < 24
        and minute < 60
        and second < 60
    )


def read_json(text):
    """Reads the JSON that the page allows. Of its values, bool is no int here: use is_integer."""

    def integer(digits):
        require(re.fullmatch(r"[0-9]{1,16}", digits) and int(digits) < 2**53)
        return int(digits)

    def unique(pairs):
        require(len(dict(pairs)) == len(pairs))
        return dict(pairs)

    def refuse(_):
        raise Refused

    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=integer,
            parse_float=refuse,
            parse_constant=refuse,
        )
    except (ValueError, RecursionError):
        raise Refused from None
    check_json(value, 0)
    return value


def check_json(value, depth):
    require(value is not None and depth <= 32)
    if isinstance(value, str):
        require(not re.search("[\ud800-\udfff]", value))
    elif isinstance(value, list):
        for item in value:
            check_json(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_json(key, depth + 1)
            check_json(item, depth + 1)


def canonical_json(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        members = (canonical_json(key) + ":" + canonical_json(value[key]) for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


# Keys and signed notes

# As Unicode defines White_Space. Python's str.isspace() is another set.
WHITE_SPACE = "\x09-\x0d\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def is_key_name(name):
    return re.fullmatch(rf"[^+{WHITE_SPACE}]+", name) is not None


@dataclass(frozen=True)
class Key:
    name: str
    id: bytes
    type: int
    public: bytes
    text: str


def read_key(text):
    """Reads a verifier key of any type."""
    parts = text.split("+", 2)
    require(len(parts) == 3)
    name, key_id, encoded = parts
    require(is_key_name(name) and re.fullmatch(r"[0-9a-f]{8}", key_id))
    data = read_base64(encoded)
    require(len(data) >= 2)
    if data[0] in (1, 4):
        require(len(data) == 33)
        require(sha256(name.encode() + b"\n" + data)[:4].hex() == key_id)
    return Key(name, bytes.fromhex(key_id), data[0], data[1:], text)


def read_log_key(text, origin):
    require(isinstance(text, str))
    key = read_key(text)
    require(key.name == origin and key.type == 1)
    return key


@dataclass(frozen=True)
class Checkpoint:
    signed: bytes
    signatures: tuple  # of (name, key id, signature)
    origin: str
    size: int
    root: bytes


def read_checkpoint(note):
    require(not re.search("[\x00-\x09\x0b-\x1f]", note))
    text, separator, lines = note.rpartition("\n\n")
    require(separator and lines.endswith("\n"))
    lines = lines[:-1].split("\n")
    require(len(lines) <= 16)
    signatures = []
    for line in lines:
        parts = line.split(" ")
        require(len(parts) == 3 and parts[0] == "\u2014" and is_key_name(parts[1]))
        data = read_base64(parts[2])
        require(len(data) >= 5)
        signatures.append((parts[1], data[:4], data[4:]))
    parts = text.split("\n")
    require(len(parts) == 3)
    origin, size, root = parts[0], read_number(parts[1]), read_base64(parts[2])
    require(len(root) == 32)
    return Checkpoint((text + "\n").encode(), tuple(signatures), origin, size, root)


# A key whose point has one of these y belongs to nobody in particular. OpenSSL takes it.
PRIME = 2**255 - 19
OF_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD83D3D706A17C7
SMALL_ORDER = (0, 1, PRIME - 1, OF_ORDER_8, PRIME - OF_ORDER_8)


def check_signature(key, signature, signed):
    y = int.from_bytes(key.public, "little") % 2**255
    require(y < PRIME and y not in SMALL_ORDER)
    try:
        # OpenSSL refuses S above the order, and checks the equation without the cofactor.
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, signed)
    except (InvalidSignature, ValueError):
        raise Refused from None


def signers(checkpoint, known):
    """Returns those of the known keys that signed. Refuses the note if one of them did so wrongly."""
    signed = set()
    for name, key_id, signature in checkpoint.signatures:
        for key in known:
            if key.name == name and key.id == key_id:
                require(key not in signed)
                check_signature(key, signature, checkpoint.signed)
                signed.add(key)
    return signed


# Proofs


def read_proof(text):
    """Returns the index, the steps and the checkpoint of a log proof without `extra`."""
    head, separator, note = text.partition("\n\n")
    require(separator)
    first, *lines = head.split("\n")
    require(first == "c2sp.org/tlog-proof@v1" and lines and lines[0].startswith("index "))
    index = read_number(lines[0][len("index ") :])
    steps = [read_base64(line) for line in lines[1:]]
    require(len(steps) <= 63 and all(len(step) == 32 for step in steps))
    return index, steps, read_checkpoint(note)


def is_included(leaf, index, steps, checkpoint):
    """RFC 9162, section 2.1.3.2."""
    if index >= checkpoint.size:
        return False
    fn, sn = index, checkpoint.size - 1
    node = sha256(b"\x00" + leaf)
    for step in steps:
        if sn == 0:
            return False
        if fn % 2 == 1 or fn == sn:
            node = sha256(b"\x01" + step + node)
            while fn % 2 == 0 and fn != 0:
                fn, sn = fn // 2, sn // 2
        else:
            node = sha256(b"\x01" + node + step)
        fn, sn = fn // 2, sn // 2
    return sn == 0 and node == checkpoint.root


def prove(leaf, proof, origin):
    """Returns the index of a leaf and the checkpoint that its proof leads to."""
    index, steps, checkpoint = read_proof(proof)
    require(checkpoint.origin == origin)
    require(is_included(leaf.encode(), index, steps, checkpoint))
    return index, checkpoint


# The receipt and its leaves


def read_receipt(data):
    require(len(data) <= 262_144)
    try:
        receipt = read_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused from None
    require(isinstance(receipt, dict))
    version = receipt.get("format")
    require(isinstance(version, str) and version.startswith("vidimus/receipt@"))
    if version != "vidimus/receipt@v1":
        raise UnknownVersion
    log, keys = receipt.get("log"), receipt.get("keys")
    require(isinstance(log, dict) and isinstance(receipt.get("open"), dict))
    require(isinstance(receipt.get("leaf"), str) and isinstance(receipt.get("proof"), str))
    require(isinstance(keys, list) and len(keys) <= 64)
    for entry in keys:
        require(isinstance(entry, dict))
        require(isinstance(entry.get("leaf"), str) and isinstance(entry.get("proof"), str))
    require(isinstance(log.get("origin"), str))
    require(re.fullmatch(r"[!-*,-~]{1,300}", log["origin"]))
    read_log_key(log.get("vkey"), log["origin"])
    return receipt


def read_leaf(text):
    require(len(text.encode()) <= 65_535)
    leaf = read_json(text)
    require(canonical_json(leaf) == text and isinstance(leaf, dict))
    require(is_integer(leaf.get("v")) and isinstance(leaf.get("type"), str))
    if leaf["v"] != 1 or leaf["type"] not in ("deposit", "policy"):
        raise UnknownVersion
    read_base64url(leaf.get("id"), 16)
    if leaf["type"] == "policy":
        require(isinstance(leaf.get("origin"), str))
        read_log_key(leaf.get("log"), leaf["origin"])
    else:
        commitments = leaf.get("c")
        require(isinstance(commitments, dict) and all(field in commitments for field in FIELDS))
        for commitment in commitments.values():
            read_base64url(commitment, 32)
    return leaf


def read_deposit(text):
    leaf = read_leaf(text)
    if leaf["type"] == "policy":
        raise UnknownVersion
    return leaf


def read_policy_leaf(text, origin):
    """Returns the key of the log that a policy announces."""
    leaf = read_leaf(text)
    require(leaf["type"] == "policy" and leaf["origin"] == origin)
    return read_log_key(leaf["log"], origin)


def open_fields(receipt, leaf):
    """Returns the values of the fields that the receipt discloses."""
    values = {}
    for field, entry in receipt["open"].items():
        if field not in leaf["c"]:
            continue
        require(isinstance(entry, dict) and isinstance(entry.get("value"), str))
        salt, value = read_base64url(entry.get("salt"), 32), entry["value"]
        require("\x00" not in field)
        parts = ["vidimus/v1/commit", receipt["log"]["origin"], leaf["id"], field]
        commitment = sha256(
            b"".join(part.encode() + b"\x00" for part in parts) + salt + value.encode()
        )
        require(commitment == read_base64url(leaf["c"][field], 32))
        values[field] = value
    require(is_fingerprint(values.get("orig", "sha256:" + "0" * 64)))
    require(values.get("stored", "") == "" or is_fingerprint(values["stored"]))
    require("time" not in values or is_time(values["time"]))
    require(values.get("expires", "") == "" or is_time(values["expires"]))
    return values


# The check


def match_file(fingerprint, values):
    """Returns `original`, `stored_copy`, `differs` or None."""
    if fingerprint is None:
        return None
    orig, stored = values.get("orig"), values.get("stored")
    both_are_one = values.get("transform") == "" and (orig is not None or bool(stored))
    if fingerprint == orig:
        return "original"
    if fingerprint == stored:
        return "original" if both_are_one else "stored_copy"
    if both_are_one or (orig is not None and stored is not None):
        return "differs"
    return None


def check_issuer(receipt, checkpoint, trusted):
    """Step 7. Returns whether the issuer is pinned, and whether the log contradicts itself."""
    origin = receipt["log"]["origin"]
    trusted = set(trusted)
    seen = []  # of (checkpoint, whether it is trusted)
    for entry in receipt["keys"]:
        with_reason = "receipt_altered"
        try:
            key = read_policy_leaf(entry["leaf"], origin)
            with_reason = "proof_invalid"
            _, earlier = prove(entry["leaf"], entry["proof"], origin)
            with_reason = "signature_invalid"
            signed = signers(earlier, trusted | {key})
            require(key in signed)
        except Refused:
            raise Failed(with_reason) from None
        is_trusted = bool(signed & trusted)
        seen.append((earlier, is_trusted))
        if is_trusted:
            trusted.add(key)
    try:
        pinned = bool(signers(checkpoint, trusted))
    except Refused:
        raise Failed("signature_invalid") from None
    seen.append((checkpoint, pinned))
    contradictions = [
        one_trusted and other_trusted
        for one, one_trusted in seen
        for other, other_trusted in seen
        if one.size == other.size and one.root != other.root
    ]
    if contradictions and not any(contradictions):
        raise Failed("proof_invalid")
    return pinned, bool(contradictions)


def check(data, fingerprint, trusted, now):
    """Takes the bytes of a receipt, the fingerprint of a file or None, keys, and the present time.

    Returns an object with at least `verdict` and `reason`.
    """
    steps = dict.fromkeys(
        ["parse", "leaf", "open", "match", "inclusion", "signature", "issuer"], "unknown"
    )
    result = {"steps": steps, "facts": NOTHING_KNOWN, "fields": {}, "unknown_fields": []}
    failures = []
    newer = False

    def step(name, reason, take):
        nonlocal newer
        try:
            value = take()
        except Refused:
            failures.append(reason)
        except Failed as failure:
            failures.append(str(failure))
        except UnknownVersion:
            newer = True
            return None
        else:
            steps[name] = "passed"
            return value
        steps[name] = "failed"
        return None

    def conclude(verdict, reason=None):
        return {"verdict": verdict, **({"reason": reason} if reason else {}), **result}

    receipt = step("parse", "receipt_altered", lambda: read_receipt(data))
    leaf = receipt and step("leaf", "receipt_altered", lambda: read_deposit(receipt["leaf"]))
    if newer:
        return conclude("indeterminate", "unknown_version")
    if failures:
        return conclude("receipt_broken", failures[0])

    origin, vkey = receipt["log"]["origin"], read_key(receipt["log"]["vkey"])
    trusted = {key for key in trusted if key.name == origin}

    values = step("open", "receipt_altered", lambda: open_fields(receipt, leaf)) or {}
    result["fields"] = values
    if steps["open"] == "passed":
        result["unknown_fields"] = [field for field in receipt["open"] if field not in leaf["c"]]
    match = match_file(fingerprint, values)
    if match:
        steps["match"] = "failed" if match == "differs" else "passed"
    expires = values.get("expires")
    expired = bool(expires) and expires <= now

    pinned = contradicted = False
    proven = step(
        "inclusion", "proof_invalid", lambda: prove(receipt["leaf"], receipt["proof"], origin)
    )
    if proven:
        index, checkpoint = proven
        step(
            "signature",
            "signature_invalid",
            lambda: require(vkey in signers(checkpoint, trusted | {vkey})),
        )
    if steps["signature"] == "passed":
        issuer = step("issuer", None, lambda: check_issuer(receipt, checkpoint, trusted))
        pinned, contradicted = issuer or (False, False)
        if contradicted:
            steps["issuer"] = "failed"
        elif issuer:
            steps["issuer"] = "passed" if pinned else "unknown"
            result["record"] = {
                "origin": origin,
                "id": leaf["id"],
                "index": str(index),
                "size": str(checkpoint.size),
            }
            short_key = sha256(vkey.text.encode()).hex()[:20]
            result["short_key"] = " ".join(short_key[i : i + 4] for i in range(0, 20, 4))

    stored = values.get("stored")
    result["facts"] = {
        "match": match or "none",
        "original_declared": match == "original"
        and (bool(values.get("transform")) or stored not in (None, fingerprint)),
        "issuer": "pinned" if pinned and not contradicted else "unknown",
    }
    if contradicted:
        return conclude("log_broken")
    if failures:
        return conclude("receipt_broken", failures[0])
    if newer:
        return conclude("indeterminate", "unknown_version")
    if match == "differs":
        return conclude("differs")
    if expired and (match is not None or fingerprint is None):
        return conclude("expired")
    if fingerprint is None:
        return conclude("indeterminate", "no_file")
    if match is None or expires is None:
        return conclude("indeterminate", "fields_hidden")
    return conclude("authentic" if pinned else "matches")


# The command


def read_trusted_keys(text):
    """Reads a file in the format tlog-policy."""
    require(not re.search("[\x00-\x08\x0b-\x1f\x7f]", text))
    logs, witnesses, names, quorums = [], [], ["none"], []
    for line in text.split("\n"):
        word, *items = [item for item in re.split("[ \t]", line) if item] or ["#"]
        if word.startswith("#"):
            continue
        if word == "log":  # a key, and perhaps an address
            require(len(items) in (1, 2))
            logs.append(read_key(items[0]))
        elif word == "witness":  # a name, a key, and perhaps an address
            require(len(items) in (2, 3))
            names.append(items[0])
            witnesses.append(read_key(items[1]))
        elif word == "group":  # a name, how many of its members it needs, and these
            require(len(items) >= 3)
            name, least, *members = items
            require(re.fullmatch("any|all|[1-9][0-9]{0,8}", least))
            require(not least.isdigit() or int(least) <= len(members))
            require(are_unique(members) and set(members) <= set(names[1:]))
            names.append(name)
        elif word == "quorum":
            require(len(items) == 1 and items[0] in names)
            quorums.append(items[0])
        else:
            raise Refused
        require(are_unique(names) and are_unique([key.public for key in logs]))
        require(are_unique([key.public for key in witnesses]))
    # Witnesses cannot be checked yet.
    require(quorums == ["none"])
    return [key for key in logs if key.type == 1]


def are_unique(items):
    return len(set(items)) == len(items)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Checks a receipt of Vidimus.", allow_abbrev=False
    )
    parser.add_argument("file")
    parser.add_argument("receipt")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--key", help="a verifier key to trust")
    source.add_argument("--policy", help="a file of verifier keys to trust")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    # argparse itself would exit with 2.
    parser.error = lambda message: sys.exit(unusable(message))
    args = parser.parse_args(arguments)

    try:
        with open(args.file, "rb") as file:
            digest = hashlib.sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        with open(args.receipt, "rb") as file:
            data = file.read(262_144 + 1)
        trusted = []
        if args.key is not None:
            trusted = [read_key(args.key)]
            require(trusted[0].type == 1)
        if args.policy is not None:
            with open(args.policy, encoding="utf-8", newline="") as file:
                trusted = read_trusted_keys(file.read())
    except OSError as error:
        return unusable(f"{error.filename}: {error.strerror}")
    except (Refused, UnicodeError):
        return unusable("the trusted keys cannot be used")

    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    result = check(data, "sha256:" + digest.hexdigest(), trusted, now)
    if args.json:
        print(json.dumps(result))
    else:
        print(": ".join([result["verdict"], *filter(None, [result.get("reason")])]))
    return EXIT_STATUS[result["verdict"]]


def unusable(message):
    print(message, file=sys.stderr)
    return UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
