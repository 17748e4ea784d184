"""What the growth of a device's tree writes: the folders of its new root that the older root does not have. The encoding of folders is REAPI's
Directory: files 1, directories 2; of each entry the name is 1 and the digest 2, of which the hash is 1 and the size 2."""


def fields_of(message):
    """(number, value) of each field: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        if key & 7 != 2:
            raise ValueError(f"a Directory has no field of wire type {key & 7}")
        size = varint()
        yield key >> 3, message[at:at + size]
        at += size


def folders_in(directory):
    """{name: digest text} of the folders in an encoded Directory."""
    found = {}
    for number, entry in fields_of(directory):
        if number != 2:
            continue
        parts = dict(fields_of(entry))
        digest = dict(fields_of(parts[2]))
        found[parts[1].decode()] = f"{digest[1].decode()}/{digest.get(2, 0)}"
    return found


def new_folder_bytes(client, before, after):
    """Bytes of the folders at and below the root `after` that are not at the same place below `before` (None: nothing is). Digests are texts."""
    if before == after:
        return 0
    directory = client.get(f"/v1/blob/{after}")[0]
    old = folders_in(client.get(f"/v1/blob/{before}")[0]) if before else {}
    return len(directory) + sum(new_folder_bytes(client, old.get(name), digest) for name, digest in folders_in(directory).items())
