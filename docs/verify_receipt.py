#!/usr/bin/env python3
"""Checks receipts and logs of Vidimus as docs/receipt-format.md says. Written from that page alone.

    python3 verify_receipt.py FILE RECEIPT [--key VKEY | --policy FILE] [--json]
    python3 verify_receipt.py --log ADDRESS-OR-FOLDER [--key VKEY | --policy FILE] [--json]

Needs Python 3.9 or later and the package `cryptography` (Debian: python3-cryptography).
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.request
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
    "intact": 0,
    "log_invalid": 51,
}
UNUSABLE = 64
LOG_FACTS = ["origin", "size", "root", "short_key"]

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


class Missing(Exception):
    """A file of a log is not there."""


class Unusable(Exception):
    """The command line, or what it names, cannot be used."""


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


def short_key(key):
    digits = sha256(key.text.encode()).hex()[:20]
    return " ".join(digits[i : i + 4] for i in range(0, 20, 4))


def is_origin(text):
    return re.fullmatch(r"[!-*,-~]{1,300}", text) is not None


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
    """Returns those of the known keys that signed, in the order of the known keys.

    Refuses the note if one of them did so wrongly.
    """
    signed = set()
    for name, key_id, signature in checkpoint.signatures:
        for key in known:
            if key.name == name and key.id == key_id:
                require(key not in signed)
                check_signature(key, signature, checkpoint.signed)
                signed.add(key)
    return [key for key in known if key in signed]


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
    require(is_origin(log["origin"]))
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
    """Step 7. Returns a trusted key that signed or None, and whether the log contradicts itself."""
    origin = receipt["log"]["origin"]
    trusted = list(trusted)
    seen = []  # of (checkpoint, whether it is trusted)
    for entry in receipt["keys"]:
        with_reason = "receipt_altered"
        try:
            key = read_policy_leaf(entry["leaf"], origin)
            with_reason = "proof_invalid"
            _, earlier = prove(entry["leaf"], entry["proof"], origin)
            with_reason = "signature_invalid"
            signed = signers(earlier, including(trusted, key))
            require(key in signed)
        except Refused:
            raise Failed(with_reason) from None
        is_trusted = any(each in trusted for each in signed)
        seen.append((earlier, is_trusted))
        if is_trusted:
            trusted = including(trusted, key)
    try:
        signed = signers(checkpoint, trusted)
    except Refused:
        raise Failed("signature_invalid") from None
    seen.append((checkpoint, bool(signed)))
    contradictions = [
        one_trusted and other_trusted
        for one, one_trusted in seen
        for other, other_trusted in seen
        if one.size == other.size and one.root != other.root
    ]
    if contradictions and not any(contradictions):
        raise Failed("proof_invalid")
    return signed[0] if signed else None, bool(contradictions)


def including(keys, key):
    return keys if key in keys else [*keys, key]


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
    trusted = [key for key in trusted if key.name == origin]

    values = step("open", "receipt_altered", lambda: open_fields(receipt, leaf)) or {}
    result["fields"] = values
    if steps["open"] == "passed":
        result["unknown_fields"] = [field for field in receipt["open"] if field not in leaf["c"]]
    match = match_file(fingerprint, values)
    if match:
        steps["match"] = "failed" if match == "differs" else "passed"
    expires = values.get("expires")
    expired = bool(expires) and expires <= now

    pinned, contradicted = None, False
    proven = step(
        "inclusion", "proof_invalid", lambda: prove(receipt["leaf"], receipt["proof"], origin)
    )
    if proven:
        index, checkpoint = proven
        step(
            "signature",
            "signature_invalid",
            lambda: require(vkey in signers(checkpoint, including(trusted, vkey))),
        )
    if steps["signature"] == "passed":
        issuer = step("issuer", None, lambda: check_issuer(receipt, checkpoint, trusted))
        pinned, contradicted = issuer or (None, False)
        if contradicted:
            steps["issuer"] = "failed"
        elif issuer:
            steps["issuer"] = "passed" if pinned else "unknown"
            result["record"] = {
                "origin": origin,
                "id": leaf["id"],
                "index": str(index),
                "size": str(checkpoint.size),
                "key": (pinned or vkey).text,
            }
            result["short_key"] = short_key(pinned or vkey)

    result["facts"] = {
        "match": match or "none",
        "original_declared": match == "original"
        and (bool(values.get("transform")) or values.get("stored") != fingerprint),
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


# The check of a log


def reader_of(place):
    """Returns a function that reads a file of a log: all of it, or one byte more than `most`."""

    def from_address(name, most):
        try:
            with urllib.request.urlopen(place.rstrip("/") + "/" + name, timeout=60) as answer:
                data = answer.read(most + 1)
                if len(data) <= most and answer.length:
                    raise Unusable(f"{name}: ends too early")
                return data
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise Missing(name) from None
            raise
        except (http.client.HTTPException, ValueError) as error:
            raise Unusable(f"{name}: {error}") from None

    def from_folder(name, most):
        try:
            with open(os.path.join(place, name), "rb") as file:
                return file.read(most + 1)
        except FileNotFoundError:
            raise Missing(name) from None

    return from_address if is_address(place) else from_folder


def is_address(place):
    return re.match("https?://", place) is not None


def folder_of(place):
    path = place if is_address(place) else os.path.abspath(place)
    return path.rstrip("/").rpartition("/")[2]


def read_text(read, name):
    data = read(name, 65_536)
    require(len(data) <= 65_536)
    return decode(data)


def decode(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused from None


def read_log_checkpoint(read, folder):
    checkpoint = read_checkpoint(read_text(read, "checkpoint"))
    require(is_origin(checkpoint.origin))
    log_id = sha256(checkpoint.origin.encode()).hex()
    require(not re.fullmatch("[0-9a-f]{64}", folder) or folder == log_id)
    return checkpoint


def read_log_policy(read, origin):
    keys = read_trusted_keys(read_text(read, "policy"))
    require(keys and all(key.name == origin for key in keys))
    return keys


def find_signer(checkpoint, own, trusted):
    """Returns a trusted key that signed, if there is one, or else one of the log's own keys."""
    signed = signers(checkpoint, trusted + [key for key in own if key not in trusted])
    require(any(key in own for key in signed))
    return signed[0]


def files_of(prefix, count):
    """Yields the names of the files that have `count` hashes or leaves, and how many each has."""
    for start in range(0, count, 256):
        width = min(256, count - start)
        digits = str(start // 256)
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        name = "/".join([prefix, *("x" + group for group in groups[:-1]), groups[-1]])
        yield (name if width == 256 else f"{name}.p/{width}"), width


def check_entries(read, checkpoint, own):
    """Step 4."""
    roots = []
    announced = set()  # keys, as the leaves `policy` have them
    for name, width in files_of("tile/entries", checkpoint.size):
        leaves = read_entries(read(name, width * (2 + 65_535)))
        require(len(leaves) == width)
        for at, leaf in enumerate(leaves):
            is_first = not roots and at == 0
            if is_first or b'"type":"policy"' in leaf:
                try:
                    announced.add(read_policy_leaf(decode(leaf), checkpoint.origin))
                except (Refused, UnknownVersion):
                    require(not is_first)
        roots.append(tree_root([sha256(b"\x00" + leaf) for leaf in leaves]))
    require(all(key in announced for key in own))
    # The root of 256 leaves is a node of the tree, and that of the last ones its right edge.
    require(roots and tree_root(roots) == checkpoint.root)


def read_entries(data):
    leaves = []
    at = 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        require(at + 2 <= len(data) and end <= len(data))
        leaves.append(data[at + 2 : end])
        at = end
    return leaves


def check_tiles(read, checkpoint):
    """Step 5."""
    below = None  # the roots of the full tiles one level lower
    edge = []  # the root of what they do not cover, if there is any
    level, count = 0, checkpoint.size
    while count > 0:
        roots = []
        for name, width in files_of(f"tile/{level}", count):
            data = read(name, width * 32)
            require(len(data) == width * 32)
            hashes = [data[at : at + 32] for at in range(0, len(data), 32)]
            if below is not None:
                require(hashes == below[:width])
                del below[:width]
            if width == 256:
                roots.append(tree_root(hashes))
            else:
                edge = [tree_root(hashes + edge)]
        below, level, count = roots, level + 1, count // 256
    require(edge == [checkpoint.root])


def tree_root(hashes):
    """Returns the root of the tree whose leaves have these hashes. There is at least one."""
    while len(hashes) > 1:
        rest = hashes[len(hashes) - len(hashes) % 2 :]
        pairs = zip(hashes[::2], hashes[1::2])
        hashes = [sha256(b"\x01" + left + right) for left, right in pairs] + rest
    return hashes[0]


def check_log(read, folder, trusted):
    """Takes a function that reads files, the name of the folder that they are in, and keys.

    Returns an object with at least `verdict`. Raises Missing if there is no checkpoint.
    """
    result = {}
    reason = "checkpoint_invalid"
    checkpoint = None
    try:
        checkpoint = read_log_checkpoint(read, folder)
        result["origin"], result["size"] = checkpoint.origin, str(checkpoint.size)
        result["root"] = base64.b64encode(checkpoint.root).decode()
        reason = "policy_invalid"
        own = read_log_policy(read, checkpoint.origin)
        reason = "signature_invalid"
        trusted = [key for key in trusted if key.name == checkpoint.origin]
        key = find_signer(checkpoint, own, trusted)
        result["issuer"] = "pinned" if key in trusted else "unknown"
        result["short_key"] = short_key(key)
        reason = "entries_invalid"
        check_entries(read, checkpoint, own)
        reason = "tiles_invalid"
        check_tiles(read, checkpoint)
    except Refused:
        return {"verdict": "log_invalid", "reason": reason, **result}
    except Missing:
        if checkpoint is None:
            raise
        return {"verdict": "indeterminate", "reason": "file_missing", **result}
    return {"verdict": "intact" if result["issuer"] == "pinned" else "matches", **result}


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
        description="Checks a receipt or a log of Vidimus.", allow_abbrev=False
    )
    parser.add_argument("file", nargs="?")
    parser.add_argument("receipt", nargs="?")
    parser.add_argument("--log", help="address or folder of a log, instead of a file and receipt")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--key", help="a verifier key to trust")
    source.add_argument("--policy", help="a file of verifier keys to trust")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    # argparse itself would exit with 2.
    parser.error = lambda message: sys.exit(unusable(message))
    args = parser.parse_args(arguments)

    if (args.log is None) == (args.receipt is None) or (args.log and args.file):
        return unusable("give a file and its receipt, or a log")

    try:
        trusted = read_trust(args.key, args.policy)
        if args.log is None:
            result = check_files(args.file, args.receipt, trusted)
        else:
            result = check_log(reader_of(args.log), folder_of(args.log), trusted)
    except Missing as error:
        return unusable(f"{args.log}: there is no {error}")
    except (OSError, Unusable) as error:
        return unusable(str(error))

    verdict = ": ".join([result["verdict"], *filter(None, [result.get("reason")])])
    if args.json:
        print(json.dumps(result))
    elif args.log is None:
        print(verdict)
    else:
        print(verdict, *(f"{name} {result[name]}" for name in LOG_FACTS if name in result), sep="\n")
    return EXIT_STATUS[result["verdict"]]


def read_trust(key, policy):
    try:
        if key is not None:
            trusted = read_key(key)
            require(trusted.type == 1)
            return [trusted]
        if policy is not None:
            with open(policy, encoding="utf-8", newline="") as file:
                return read_trusted_keys(file.read())
    except (Refused, UnicodeError):
        raise Unusable("the trusted keys cannot be used") from None
    return []


def check_files(file, receipt, trusted):
    with open(file, "rb") as opened:
        digest = hashlib.sha256()
        while chunk := opened.read(1 << 20):
            digest.update(chunk)
    with open(receipt, "rb") as opened:
        data = opened.read(262_144 + 1)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return check(data, "sha256:" + digest.hexdigest(), trusted, now)


def unusable(message):
    print(message, file=sys.stderr)
    return UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
