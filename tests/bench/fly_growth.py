"""What the growth of a device's tree writes: the folders of its new root that the older root does not have."""
import os, sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from reapi_folder import Folder


def new_folder_bytes(client, before, after):
    """Bytes of the folders at and below the root `after` that are not at the same place below `before` (None: nothing is). Digests are texts."""
    if before == after:
        return 0
    directory = client.get(f"/v1/blob/{after}")[0]
    old = Folder(client.get(f"/v1/blob/{before}")[0]).folders if before else {}
    return len(directory) + sum(new_folder_bytes(client, old.get(name), digest) for name, digest in Folder(directory).folders.items())
